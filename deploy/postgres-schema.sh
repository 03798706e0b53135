#!/bin/sh
# Makes the databases of Temporal in PostgreSQL, or brings them up to this version of Temporal. Again is no harm: it runs
# at every start.
set -eu
export SQL_PASSWORD="$POSTGRES_PWD"

tool() {
	name=$1
	shift
	temporal-sql-tool --plugin postgres12 --endpoint "$POSTGRES_SEEDS" --port "$DB_PORT" \
		--user "$POSTGRES_USER" --database "$name" "$@"
}

for name in temporal temporal_visibility; do
	case $name in
	temporal) schema=postgresql/v12/temporal ;;
	*) schema=postgresql/v12/visibility ;;
	esac
	# Only a database that was just made is given a first version: one that is there has its own.
	if tool $name create-database; then
		tool $name setup-schema --version 0.0
	else
		echo "the database $name is there already, or cannot be made; it is brought up to date"
	fi
	tool $name update-schema --schema-name $schema
done
