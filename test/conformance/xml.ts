import { absentRows, nounRows } from './xml-nouns.ts'
import type { Row } from './xml-rows.ts'
import { verbRows } from './xml-verbs.ts'

/** What the gateway understands of XML documents: every element and attribute, and the test of each. */
export const xmlConformance: readonly Row[] = [...verbRows, ...nounRows]

/** What it does not; each has no effect and a warning. */
export const xmlAbsent: readonly Row[] = absentRows
