import { type Cause, catalogue } from '../../core/errors/catalogue.ts'

/** Returns the cause of a `verto.bye`: Q.850 name and value. */
export const byeOf = (cause: Cause): { readonly cause: string; readonly causeCode: number } => {
  const { cause: name, q850 } = catalogue[cause.code]
  return { cause: name, causeCode: q850 }
}

/** Cause code of the browser SDK that stops ringing on all devices of the subscriber. Not a Q.850 value. */
export const rejectAllCode = 825

/** Returns the cause of a leg's end for the `causeCode` of a `verto.bye`; `otherwise` for any other code. */
export const causeOf = (causeCode: number | undefined, otherwise: Cause['code']): Cause => {
  if (causeCode === catalogue.busy.q850) return { code: 'busy' }
  if (causeCode === catalogue.declined.q850 || causeCode === rejectAllCode) return { code: 'declined' }
  if (causeCode === catalogue.no_answer.q850) return { code: 'no_answer' }
  return { code: otherwise }
}
