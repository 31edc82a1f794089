import { callRows } from './script-call.ts'
import { flowRows } from './script-flow.ts'
import { mediaRows } from './script-media.ts'
import type { ScriptRow } from './script-rows.ts'

/** Support of script documents: every method and parameter, its extent, and its test. */
export const scriptConformance: readonly ScriptRow[] = [...callRows, ...mediaRows, ...flowRows]
