// Package buckets links the drivers of stores in buckets: S3 and what speaks its API (s3://), Google Cloud Storage
// (gs://) and Azure (azblob://). A program imports it for that alone. Libraries do not: the drivers are 380 packages,
// and who keeps the store in a folder needs none of them.
package buckets

import (
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
)
