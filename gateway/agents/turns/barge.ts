import { isAcknowledgement } from '../text/acknowledgements.ts'
import { wordsOf } from '../text/words.ts'
import type { TurnRules } from './turn-types.ts'

/** Words over the agent's voice. */
export interface Overlap {
  /** Everything that the caller said in this turn. */
  readonly text: string
  readonly isFinal: boolean
  readonly confidence: number | undefined
  readonly language: string | undefined
}

type BargeRules = Pick<
  TurnRules,
  'barge' | 'bargeMinWords' | 'bargeConfidence' | 'bargeAcknowledgements' | 'wakeName'
>

/** Whether a text contains a name, as whole words. */
export const containsName = (text: string, name: string): boolean =>
  ` ${wordsOf(text).join(' ')} `.includes(` ${wordsOf(name).join(' ')} `)

/**
 * Whether words over the agent's voice interrupt it. A final recognition completes a partial one, so it
 * interrupts with `partial`, too. Acknowledgements do only by the rules. `matches`: the pattern of the rules.
 */
export const interrupts = (
  { text, isFinal, confidence, language }: Overlap,
  rules: BargeRules,
  matches: (text: string) => boolean,
): boolean => {
  if (rules.barge === 'none' || (rules.barge === 'complete' && !isFinal)) return false
  const words = wordsOf(text).length
  if (words < Math.max(1, rules.bargeMinWords)) return false
  if (confidence !== undefined && confidence < rules.bargeConfidence) return false
  if (rules.wakeName && !containsName(text, rules.wakeName)) return false
  return (rules.bargeAcknowledgements || !isAcknowledgement(text, language)) && matches(text)
}
