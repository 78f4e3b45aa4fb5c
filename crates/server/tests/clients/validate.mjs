// Whether a file is a valid OpenAPI document: `node validate.mjs FILE`.
import SwaggerParser from "@apidevtools/swagger-parser";

await SwaggerParser.validate(process.argv[2]);
