import { agentRows } from './xml-agents.ts'
import { absentRows, nounRows } from './xml-nouns.ts'
import { relayRows } from './xml-relay.ts'
import type { Row } from './xml-rows.ts'
import { verbRows } from './xml-verbs.ts'

/** Support of XML documents: every element and attribute, and its test. */
export const xmlConformance: readonly Row[] = [...verbRows, ...nounRows, ...agentRows, ...relayRows]

/** Elements and attributes without support; each has no effect and causes a warning. */
export const xmlAbsent: readonly Row[] = absentRows
