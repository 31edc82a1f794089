import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { checkMessage } from './message/check.ts'
import { knownMethods } from './message/methods.ts'
import { parseDatagram } from './message/parse.ts'
import { generator, mutate } from './testing/mutate.ts'
import { type Delivered, turn, WholeAgent } from './testing/whole-agent.ts'

/** One seed for each test: a failure comes again with the next run. */
let random: () => number
let whole: WholeAgent
let counter = 0

const below = (count: number) => Math.floor(random() * count)
const oneOf = <T>(list: readonly T[]): T => list[below(list.length)] as T

interface RequestFields {
  readonly id: string
  readonly tag?: string
  readonly seq?: number
  readonly transport?: string
  readonly branch?: string
}

const requestText = (method: string, parts: RequestFields): string => {
  const { id, tag, seq = 1, transport = 'UDP', branch = `z9hG4bK${++counter}` } = parts
  const body = method === 'INVITE' || method === 'UPDATE' ? 'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\n' : ''
  return [
    `${method} sip:bob@127.0.0.1 SIP/2.0`,
    `Via: SIP/2.0/${transport} 127.0.0.1:${whole.peerPort};branch=${branch};rport`,
    'Max-Forwards: 70',
    `From: "Al" <sip:al@127.0.0.1>;tag=f${id}`,
    `To: <sip:bob@127.0.0.1>${tag ? `;tag=${tag}` : ''}`,
    `Call-ID: ${id}@fuzz`,
    `CSeq: ${seq} ${method}`,
    `Contact: <sip:al@127.0.0.1:${whole.peerPort}>`,
    oneOf([
      'Supported: 100rel, timer',
      'Require: 100rel',
      'Expires: 60',
      'RAck: 1 1 INVITE',
      'Event: presence',
    ]),
    oneOf([
      'Record-Route: <sip:127.0.0.1;lr>',
      'Subscription-State: terminated',
      'Refer-To: <sip:c@127.0.0.1>',
    ]),
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n')
}

/** Returns a response to a request of the agent, or to an invented request. */
const responseText = (status: number, request?: string): string => {
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(request ?? '')?.[1]
  const stray = `z9hG4bK${++counter}`
  const to = header('To') ?? '<sip:al@127.0.0.1>'
  return [
    `SIP/2.0 ${status} Text`,
    `Via: ${header('Via') ?? `SIP/2.0/UDP 127.0.0.1;branch=${stray}`}`,
    `From: ${header('From') ?? `<sip:x@127.0.0.1>;tag=${stray}`}`,
    `To: ${to.includes('tag=') ? to : `${to};tag=peer${below(3)}`}`,
    `Call-ID: ${header('Call-ID') ?? stray}`,
    `CSeq: ${header('CSeq') ?? '1 INVITE'}`,
    `Contact: <sip:peer@127.0.0.1:${whole.peerPort}>`,
    oneOf(['Require: 100rel\r\nRSeq: 1', 'Server: x', 'Retry-After: 5']),
    'Content-Length: 0\r\n\r\n',
  ].join('\r\n')
}

/** Mostly damaged, at times whole. */
const damaged = (text: string): Buffer =>
  random() < 0.2 ? Buffer.from(text) : mutate(Buffer.from(text), random)

/** Draws that depend on the message and not on its time, so that a run can be repeated. */
const draws = (text: string) => {
  const [callId = '', cseq = ''] = ['Call-ID', 'CSeq'].map(
    (name) => new RegExp(`^${name}: (.*)$`, 'im').exec(text)?.[1] ?? '',
  )
  let seed = 0
  for (const character of callId + cseq) seed = (Math.imul(seed, 31) + character.charCodeAt(0)) | 0
  const next = generator(seed)
  return { next, oneOf: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T }
}

/** Application with random answers, or without an answer. */
const moody = ({ txnId, message }: Delivered) => {
  const { next, oneOf } = draws(message)
  if (message.startsWith('SIP/2.0') || message.startsWith('ACK') || next() < 0.2) return
  const headers = oneOf(['', 'Contact: <sip:app@localhost>\r\n', 'X: y\r\n'])
  for (const status of oneOf([[200], [200], [180, 200], [183], [486], [408], [100, 500]])) {
    whole.say(`a|sip|${txnId}|`, `SIP/2.0 ${status} Text\r\n${headers}Content-Length: 0\r\n\r\n`)
  }
}

/** Permitted responses to a request (RFC 3261 8.2, 17.2 and RFC 4320). */
const judge = (text: string) => {
  const status = Number(/^SIP\/2\.0 (\d{3}) /.exec(text)?.[1] ?? 0)
  // What could not be parsed is sent back as it came, with one of these.
  if ([400, 413, 505].includes(status)) return
  const message = checkMessage(parseDatagram(Buffer.from(text, 'latin1')))
  expect(message.seqMethod === 'ACK' && status > 0).toBe(false)
  if (message.seqMethod !== 'INVITE' && status > 0)
    expect(status === 100 || (status >= 200 && status !== 408)).toBe(true)
}

beforeEach(async () => {
  whole = await WholeAgent.start(['tcp', 'ws'])
  whole.onDelivered = moody
  counter = 0
})

/** The agent holds nothing afterwards, whatever it received. */
afterEach(async () => {
  await whole.settle()
  const { answers } = whole.take()
  for (const text of answers) judge(text)
  await whole.loseApplication()
  // Over every timer of the agent: the longest is that of a ringing call, half an hour.
  for (let i = 0; i < 4; i++) {
    whole.clock.advance(1_000_000)
    await turn()
  }
  const { transactions, dialogs, pending, unacknowledged, registeredFlows } = whole.agent.stats
  expect({ transactions, dialogs, pending, unacknowledged, registeredFlows, faults: whole.faults }).toEqual({
    transactions: 0,
    dialogs: 0,
    pending: 0,
    unacknowledged: 0,
    registeredFlows: 0,
    faults: [],
  })
  await whole.close()
  expect([whole.agent.stats.connections, whole.timers.running, whole.clock.running]).toEqual([0, 0, 0])
})

describe('the agent keeps serving and releases everything', () => {
  it('after 2,400 damaged requests of every method and stray responses, ACKs and CANCELs', async () => {
    random = generator(4711)
    const methods = [...knownMethods, 'DANCE']
    for (let i = 0; i < 2_400; i++) {
      const text =
        i % 6 === 0
          ? responseText(oneOf([100, 180, 200, 302, 401, 486, 503, 699]))
          : requestText(methods[i % methods.length] as string, {
              id: `o${below(40)}`,
              branch: `z9hG4bKo${below(60)}`,
            })
      await whole.send(damaged(text))
      if (i % 200 === 0) await whole.settle()
    }
  })

  it('after 200 calls with 8 damaged requests within each', async () => {
    random = generator(815)
    const inside = ['ACK', 'BYE', 'INVITE', 'UPDATE', 'INFO', 'PRACK', 'NOTIFY', 'REFER', 'CANCEL', 'MESSAGE']
    let within = 0
    for (let batch = 0; batch < 10; batch++) {
      const ids = Array.from({ length: 20 }, (_, i) => `d${batch}-${i}`)
      for (const id of ids) await whole.send(requestText('INVITE', { id, branch: `z9hG4bKi${id}` }))
      await whole.settle()
      const answers = whole.take().answers
      for (const text of answers) judge(text)
      for (const id of ids) {
        const tag = answers
          .map((text) => text.includes(`${id}@fuzz`) && /^To: .*;tag=(\S+)/m.exec(text)?.[1])
          .find(Boolean)
        if (tag) within++
        for (let i = 0; i < 8; i++) {
          const method = oneOf(inside)
          const branch = method === 'ACK' || method === 'CANCEL' ? { branch: `z9hG4bKi${id}` } : {}
          const seq = oneOf([1, 2, 3, 7])
          await whole.send(damaged(requestText(method, { id, seq, ...(tag ? { tag } : {}), ...branch })))
        }
        whole.clock.advance(below(400))
      }
      await whole.settle()
    }
    // Most calls got an answer, else nothing would have been tried within one.
    expect(within).toBeGreaterThan(120)
  })

  it('after 150 requests of the application to a peer whose responses are damaged', async () => {
    random = generator(99)
    let reached = 0
    whole.onAnswer = (text) => {
      if (text.startsWith('SIP/2.0') || text.startsWith('ACK')) return
      reached++
      for (const status of oneOf([[100, 180, 200], [200, 200], [183, 486], [401], [180], [302], [500]])) {
        void whole.send(damaged(responseText(status, text)))
      }
    }
    for (let i = 0; i < 150; i++) {
      const method = oneOf(['INVITE', 'INVITE', 'SUBSCRIBE', 'OPTIONS', 'REGISTER', 'MESSAGE'])
      whole.say(
        `u${i}|sip||`,
        `${method} sip:peer@127.0.0.1:${whole.peerPort} SIP/2.0\r\nContent-Length: 0\r\n\r\n`,
      )
      if (i % 10 !== 9) continue
      await whole.settle()
      whole.clock.advance(below(3_000))
    }
    await whole.settle()
    whole.onAnswer = () => {}
    expect(reached).toBeGreaterThan(100)
  })

  it('after 300 damaged streams, each cut anywhere', async () => {
    random = generator(7)
    for (let i = 0; i < 300; i++) {
      const texts = Array.from({ length: 3 }, () =>
        requestText(oneOf([...knownMethods]), { id: `t${below(90)}`, transport: 'TCP' }),
      )
      const bytes = mutate(Buffer.from(texts.join(oneOf(['', '\r\n', '\r\n\r\n']))), random)
      const socket = connect(whole.port('tcp'), '127.0.0.1')
      socket.on('error', () => {})
      socket.resume()
      socket.setNoDelay(true)
      await once(socket, 'connect')
      for (let at = 0; at < bytes.length; ) {
        const length = 1 + below(bytes.length)
        socket.write(bytes.subarray(at, at + length))
        at += length
        await turn()
      }
      socket.end()
      if (i % 50 === 0) await whole.settle()
    }
    while (whole.agent.stats.connections > 0) {
      // A connection that is cut within a message is ended by its timer.
      whole.clock.advance(10_000)
      await turn()
    }
  })

  it('after 400 damaged WebSocket messages', async () => {
    random = generator(11)
    let socket: WebSocket | undefined
    for (let i = 0; i < 400; i++) {
      if (socket?.readyState !== WebSocket.OPEN) {
        socket = new WebSocket(`ws://127.0.0.1:${whole.port('ws')}`, 'sip')
        socket.on('error', () => {})
        await once(socket, 'open')
      }
      const text = requestText(oneOf([...knownMethods]), { id: `w${below(90)}`, transport: 'WS' })
      socket.send(damaged(text), { binary: random() < 0.5 })
      if (i % 40 === 0) await whole.settle()
    }
    socket?.terminate()
    while (whole.agent.stats.connections > 0) await turn()
  })
})
