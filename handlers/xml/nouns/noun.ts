import type { Destination } from '../../verbs.ts'
import type { ElementReader } from '../element-reader.ts'
import type { ElementKind, Stage } from '../verb.ts'

/** Somebody to call, for one run of the document; undefined: nobody, and a warning says so. */
export type Callable = (stage: Stage) => Destination | undefined

/** A noun of `Dial` that is called together with others. */
export interface Noun extends ElementKind {
  /** Undefined: there is nobody to call, and the reader has been told why. */
  readonly read: (reader: ElementReader) => Callable | undefined
}
