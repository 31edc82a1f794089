import { type Cause, catalogue } from '../../core/errors/catalogue.ts'

/** The words of a `verto.bye`: Q.850 name and value. */
export const byeOf = (cause: Cause): { readonly cause: string; readonly causeCode: number } => {
  const { cause: name, q850 } = catalogue[cause.code]
  return { cause: name, causeCode: q850 }
}

/** The browser SDK's word for "no device of mine is to ring on". Not of Q.850. */
export const rejectAllCode = 825

/**
 * What the `causeCode` of a browser's `verto.bye` means for a leg of ours; `otherwise` when it says nothing.
 */
export const causeOf = (causeCode: number | undefined, otherwise: Cause['code']): Cause => {
  if (causeCode === catalogue.busy.q850) return { code: 'busy' }
  if (causeCode === catalogue.declined.q850 || causeCode === rejectAllCode) return { code: 'declined' }
  if (causeCode === catalogue.no_answer.q850) return { code: 'no_answer' }
  return { code: otherwise }
}
