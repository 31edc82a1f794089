import type { Fields, Target } from '../common/forms.ts'
import { formRequest } from '../common/forms.ts'
import type { HandlerContext, StatusCallback } from '../handler.ts'
import type { ElementReader } from './element-reader.ts'
import { codes } from './faults.ts'

/** URL that receives some kinds of events. */
export interface Callback<T extends string> extends Target {
  readonly events: readonly T[]
}

/** Reads the attributes `<name>`, `<name>Method` and `<name>Event`. Undefined without a URL. */
export const readCallback = <T extends string>(
  reader: ElementReader,
  name: string,
  known: readonly T[],
  fallback: readonly T[],
): Callback<T> | undefined => {
  const target = reader.target(name, `${name}Method`)
  const events = reader.words(`${name}Event`, known, fallback, codes.event)
  return target && { ...target, events }
}

/**
 * Sends a form to a customer's server. `kind` is for logs and metrics; `ends` as in {@link StatusCallback}.
 */
export const sendCallback = (
  context: HandlerContext,
  kind: string,
  target: Target,
  fields: Fields,
  ends?: string,
): void => context.notify({ kind, ...formRequest(target, fields), ...(ends !== undefined && { ends }) })
