import type { Destination } from '../../verbs.ts'
import type { ElementReader } from '../element-reader.ts'
import type { ElementKind, VerbContext } from '../verb.ts'

/** Returns the destination for one run of the document. Undefined, after a warning, without one. */
export type MakeDestination = (context: VerbContext) => Destination | undefined

/** Noun of `Dial` that can ring together with others. */
export interface Noun extends ElementKind {
  /** Reads the element. Undefined, after a warning, if it has no valid destination. */
  readonly read: (reader: ElementReader) => MakeDestination | undefined
}
