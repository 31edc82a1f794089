import { callRows } from './script-call.ts'
import { flowRows } from './script-flow.ts'
import { mediaRows } from './script-media.ts'
import type { ScriptRow } from './script-rows.ts'

/** What the gateway understands of script documents: every method and parameter, how far it has it, and the test of each. */
export const scriptConformance: readonly ScriptRow[] = [...callRows, ...mediaRows, ...flowRows]
