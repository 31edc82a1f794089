import type { Winner } from './fork-types.ts'

/**
 * Sends the destination's digits to a callee who has answered. Resolves early if the leg ends. Returns
 * undefined without digits, and for a destination with a confirmation, which has sent them already.
 */
export const sendDigitsAfterAnswer = ({
  leg,
  branch: { destination },
}: Winner): Promise<void> | undefined => {
  const { sendDigits, confirm } = destination
  if (!sendDigits || confirm || leg.isEnded) return undefined
  const { promise, resolve } = Promise.withResolvers<void>()
  leg.whenGone(resolve)
  return Promise.race([leg.sendDigits(sendDigits), promise])
}
