// Package buckets links the drivers of stores in buckets: S3 and compatible services (s3://), Google Cloud Storage
// (gs://) and Azure (azblob://). A program imports it only for that. Libraries do not import it: the drivers are 380
// packages, which a store in a folder does not need.
package buckets

import (
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
)
