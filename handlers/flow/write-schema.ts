import { writeFileSync } from 'node:fs'
import { flowSchema } from './schema.ts'

// Run as `node handlers/flow/write-schema.ts` after a change of the language; a test fails while the two
// differ.
writeFileSync(new URL('schema.json', import.meta.url), `${JSON.stringify(flowSchema, null, 2)}\n`)
