// How @hey-api/openapi-ts makes its client.
import {join} from "node:path";

export default {input: "openapi.json", output: {path: "sdk", tsConfigPath: join(import.meta.dirname, "tsconfig.json")}, plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"]};
