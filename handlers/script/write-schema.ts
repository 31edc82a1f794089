import { writeFileSync } from 'node:fs'
import { scriptSchema } from './schema.ts'

// Run as `node handlers/script/write-schema.ts` after a change of the language; a test fails while the two
// differ.
writeFileSync(new URL('schema.json', import.meta.url), `${JSON.stringify(scriptSchema, null, 2)}\n`)
