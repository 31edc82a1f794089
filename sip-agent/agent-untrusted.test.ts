import { expect, it } from 'vitest'
import type { SipShield } from './shield/shield-settings.ts'
import { inviteText } from './testing/messages.ts'
import { WholeAgent } from './testing/whole-agent.ts'

const settings: SipShield = {
  packetsPerSecond: 1_000,
  knownPacketsPerSecond: 1_000,
  banAfter: 3,
  banForMs: 600_000,
  scanners: [],
  untrusted: 'answer',
  known: [],
}

/** Number of responses to a refused call without an ACK, for senders in these networks. */
const refusals = async (known: readonly string[]) => {
  const whole = await WholeAgent.start([], { shield: { ...settings, known } })
  whole.onDelivered = ({ txnId, message }) => {
    if (message.startsWith('INVITE')) whole.say(`r|sip|${txnId}|`, 'SIP/2.0 403 Forbidden\r\n\r\n')
  }
  await whole.send(inviteText)
  await whole.settle()
  for (let i = 0; i < 32; i++) whole.clock.advance(1_000)
  await whole.settle()
  const { answers } = whole.take()
  await whole.close()
  return answers.filter((text) => text.startsWith('SIP/2.0 403')).length
}

it('sends a rejection once to a sender that may be spoofed, and to a carrier until the ACK', async () => {
  expect(await refusals([])).toBe(1)
  expect(await refusals(['127.0.0.0/8'])).toBeGreaterThan(9)
})

it('reserves transactions for trusted sources when untrusted ones have used their share', async () => {
  const whole = await WholeAgent.start([], {
    shield: settings,
    maxTransactions: 8,
  })
  const statuses = () => whole.take().answers.map((text) => text.slice(8, 11))
  const ask = (i: number) =>
    whole.send(
      inviteText.replaceAll('INVITE', 'OPTIONS').replace('776asdhds', `b${i}`).replace('a84b', `c${i}`),
    )
  for (let i = 0; i < 7; i++) await ask(i)
  await expect.poll(() => whole.agent.stats.transactions).toBe(6)
  await expect.poll(() => whole.answers.length).toBe(1)
  expect(statuses()).toEqual(['503'])
  whole.agent.change({ shield: { ...settings, known: ['127.0.0.0/8'] } })
  for (let i = 7; i < 10; i++) await ask(i)
  await expect.poll(() => whole.agent.stats.transactions).toBe(8)
  await expect.poll(() => whole.answers.length).toBe(1)
  expect(statuses()).toEqual(['503'])
  await whole.close()
})

it('counts a large request as several transactions', async () => {
  const whole = await WholeAgent.start([], { maxTransactions: 8 })
  const large = inviteText
    .replaceAll('INVITE', 'OPTIONS')
    .replace('User-Agent:', `${`X-Pad: ${'x'.repeat(5_000)}\r\n`.repeat(4)}User-Agent:`)
  for (let i = 0; i < 3; i++) await whole.send(large.replace('776asdhds', `b${i}`).replace('a84b', `c${i}`))
  await expect.poll(() => whole.answers.length).toBe(1)
  expect(whole.take().answers[0]).toMatch(/^SIP\/2.0 503 /)
  expect(whole.agent.stats.transactions).toBe(2)
  for (let i = 0; i < 70; i++) whole.clock.advance(1_000)
  await whole.send(large.replace('776asdhds', 'b9').replace('a84b', 'c9'))
  await expect.poll(() => whole.agent.stats.transactions).toBe(1)
  await whole.close()
})
