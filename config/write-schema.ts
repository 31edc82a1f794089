import { writeFileSync } from 'node:fs'
import { configSchema } from './schema/config-schema.ts'

// Run as `node config/write-schema.ts` after a change of the schema; a test fails while the two differ.
writeFileSync(new URL('schema.json', import.meta.url), `${JSON.stringify(configSchema, null, 2)}\n`)
