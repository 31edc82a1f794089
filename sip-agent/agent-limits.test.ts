import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import type { MessageLimits } from './message/limits.ts'
import { inviteText } from './testing/messages.ts'
import { WholeAgent } from './testing/whole-agent.ts'

let whole: WholeAgent | undefined
afterEach(async () => {
  await whole?.close()
})

const options = inviteText.replaceAll('INVITE', 'OPTIONS')
const withLine = (line: string) => options.replace('User-Agent:', `${line}\r\nUser-Agent:`)

/** Returns the start lines of the responses to one datagram, and the number of delivered messages. */
const outcomeOf = async (limits: Partial<MessageLimits>, text: string) => {
  whole = await WholeAgent.start(['tcp'], { limits })
  await whole.send(text)
  await whole.settle()
  const { answers, delivered } = whole.take()
  return [answers.map((each) => each.split('\r\n')[0]), delivered.length]
}

it('a message of the maximum size is accepted, a larger one is rejected', async () => {
  expect(await outcomeOf({ messageBytes: options.length }, options)).toEqual([[], 1])
  await whole?.close()
  // A too large message is not parsed, so it cannot be answered.
  expect(await outcomeOf({ messageBytes: options.length - 1 }, options)).toEqual([[], 0])
})

it('a stream closes at an oversized message, which is answered if its head is readable', async () => {
  whole = await WholeAgent.start(['tcp'], { limits: { messageBytes: 1_000 } })
  const socket = connect(whole.port('tcp'), '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  socket.write(options.replace('Content-Length: 4', 'Content-Length: 900'))
  await once(socket, 'close')
  expect(text).toMatch(/^SIP\/2\.0 413 /)
})

it('a message with the maximum number of header fields is accepted, one more is rejected', async () => {
  const fields = options.split('\r\n\r\n')[0]?.split('\r\n').length ?? 0
  expect(await outcomeOf({ headers: fields - 1 }, options)).toEqual([[], 1])
  await whole?.close()
  expect(await outcomeOf({ headers: fields - 1 }, options.replace('\r\n\r\n', '\r\nX: y\r\n\r\n'))).toEqual([
    ['SIP/2.0 400 Bad header'],
    0,
  ])
})

it('a header field of the maximum length is accepted, a longer one is rejected, folded or not', async () => {
  const limits = { headerLength: 200 }
  expect(await outcomeOf(limits, withLine(`X: ${'y'.repeat(197)}`))).toEqual([[], 1])
  await whole?.close()
  // Each of these stands before what an answer is made of was read.
  const early = (line: string) => options.replace('Call-ID:', `${line}\r\nCall-ID:`)
  for (const line of [`X: ${'y'.repeat(198)}`, `X: ${'y'.repeat(100)}\r\n ${'z'.repeat(100)}`]) {
    expect(await outcomeOf(limits, early(line))).toEqual([[], 0])
    await whole?.close()
  }
  expect(await outcomeOf(limits, withLine(`X: ${'é'.repeat(197)}`))).toEqual([[], 1])
})
