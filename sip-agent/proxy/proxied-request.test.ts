import { beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../clock.ts'
import type { Context } from '../core/context.ts'
import { Headers } from '../message/headers.ts'
import type { SipResponse } from '../message/message.ts'
import { message, RecordingFlow, request } from '../testing/messages.ts'
import { recordingApp } from '../testing/recording-app.ts'
import { makeTimers } from '../transaction/timers.ts'
import { Transactions } from '../transaction/transactions.ts'
import type { Hop } from '../transport/types.ts'
import { OwnRoutes } from './own-routes.ts'
import { ProxiedRequest } from './proxied-request.ts'
import { readOrder } from './proxy-order.ts'

const places = ['192.0.2.11', '192.0.2.12'] as const
const target = (address: string) => `sip:bob@${address}`
const ringing = makeTimers().ringing
let clock: FakeClock
let transactions: Transactions
let sender: RecordingFlow
let fars: Map<string, RecordingFlow>

beforeEach(() => {
  breadth = undefined
  clock = new FakeClock()
  transactions = new Transactions(clock, makeTimers(), (error) => {
    throw error
  })
  sender = new RecordingFlow()
  fars = new Map<string, RecordingFlow>(places.map((address) => [address, new RecordingFlow()]))
})

const context = () =>
  ({
    clock,
    timers: makeTimers(),
    transactions,
    router: {
      find: (uri: string, done: (hops: readonly Hop[]) => void) => {
        const addresses = uri.slice(uri.indexOf('@') + 1).split('.or.')
        done(addresses.map((address) => ({ protocol: 'udp', address, port: 5060, host: address })))
        return true
      },
      fit: (hops: readonly Hop[]) => hops,
      failed: () => {},
    },
    transports: {
      addresses: [],
      isOwn: () => false,
      ownHost: () => '192.0.2.1',
      flow: ({ address }: Hop) => fars.get(address),
    },
  }) as unknown as Context

/** Max-Breadth of the sender; undefined without one. */
let breadth: string | undefined

/** Lets the agent forward a request, by the fields of a `proxy` frame. */
const sendOn = (method: string, ...fields: string[]): ProxiedRequest => {
  const received = request(method, 'z9hG4bKcaller')
  if (breadth !== undefined) received.headers.append('Max-Breadth', breadth)
  const proxied = new ProxiedRequest({
    context: context(),
    app: recordingApp(clock, () => {}),
    msgId: 'm',
    order: readOrder(['', ...fields]),
    raw: { kind: 'request', method, uri: received.uri, headers: new Headers(), body: Buffer.alloc(0) },
    request: received,
    side: transactions.serve(received, sender),
    isForAgent: true,
    routes: new OwnRoutes(clock),
    done: () => {},
  })
  proxied.run()
  return proxied
}

const sentTo = (address: string): string[] => fars.get(address)?.sent ?? []

const methodsTo = (address: string) => sentTo(address).map((text) => text.split(' ', 1)[0])

/** Lets a target answer its first request. */
const answer = (address: string, status: number, lines = '') => {
  const [first = ''] = sentTo(address)
  const copied = first.split('\r\n').filter((line) => /^(?:Via|From|To|Call-ID|CSeq):/.test(line))
  const text = `SIP/2.0 ${status} S\r\n${copied.join('\r\n').replace(/^To: .*/m, `$&;tag=t${address}`)}\r\n`
  const flow = fars.get(address) ?? sender
  transactions.receive(message(`${text}${lines}Content-Length: 0\r\n\r\n`) as SipResponse, flow, 1)
}

/** Statuses that the sender got, retransmissions left out. */
const statuses = () => [...new Set(sender.sent)].map((text) => Number(text.slice(8, 11)))

describe('a target that answers after its timeout', () => {
  const late = () => {
    sendOn('INVITE', '', '', 'followRedirects', 'sequential', '100ms', '', target(places[0]))
    clock.advance(100)
    expect(statuses()).toEqual([100, 408])
  }

  it('cannot cause a call to another target by a redirection', () => {
    late()
    answer(places[0], 302, `Contact: <${target(places[1])}>\r\n`)
    expect([sentTo(places[1]), statuses()]).toEqual([[], [100, 408]])
  })

  it('still has its 2xx forwarded', () => {
    late()
    answer(places[0], 200)
    expect(statuses()).toEqual([100, 408, 200])
  })
})

it('a target with two hops is not cancelled before the second hop has answered (RFC 3261 9.1)', () => {
  const proxied = sendOn('INVITE', '', '', '', 'sequential', '', '', target(places.join('.or.')))
  answer(places[0], 100)
  answer(places[0], 503)
  proxied.cancel()
  expect(methodsTo(places[1])).toEqual(['INVITE'])
  answer(places[1], 180)
  expect(methodsTo(places[1])).toEqual(['INVITE', 'CANCEL'])
  answer(places[1], 487)
  expect(statuses()).toEqual([100, 180, 487])
})

describe('a second 2xx', () => {
  const both = (method: string) => {
    sendOn(method, '', '', '', 'simultaneous', '', '', ...places.map(target))
    for (const address of places) answer(address, 200)
    return statuses().filter((status) => status === 200).length
  }

  it('to an INVITE is forwarded', () => {
    expect(both('INVITE')).toBe(2)
  })

  it('to another request is not forwarded, because the request has been answered', () => {
    expect(both('MESSAGE')).toBe(1)
    clock.advance(ringing)
    expect(transactions.size).toBe(0)
  })
})

describe('the maximum breadth of forwarding (RFC 5393 5.3)', () => {
  const three = ['192.0.2.11', '192.0.2.12', '192.0.2.13'] as const
  const breadths = () =>
    three.map((address) => sentTo(address).map((text) => /^Max-Breadth: (.*)$/m.exec(text)?.[1]?.trim()))
  const together = () => {
    fars.set(three[2], new RecordingFlow())
    return sendOn('MESSAGE', '', '', '', 'simultaneous', '', '', ...three.map(target))
  }

  it.each([
    [undefined, ['20', '20', '20']],
    ['no number', ['20', '20', '20']],
    ['8', ['2', '3', '3']],
    ['99999999999', ['20', '20', '20']],
  ])('is shared by targets that are called in parallel (%s)', (given, expected) => {
    breadth = given
    together()
    expect(breadths().flat()).toEqual(expected)
  })

  it('is complete for each target that is called in series', () => {
    breadth = '5'
    sendOn('MESSAGE', '', '', '', 'sequential', '', '', ...places.map(target))
    answer(places[0], 486)
    expect(breadths().flat()).toEqual(['5', '5'])
  })

  it('delays targets until others end if it is too small for all', () => {
    breadth = '2'
    together()
    expect(breadths()).toEqual([['1'], ['1'], []])
    answer(places[1], 486)
    expect(breadths()).toEqual([['1'], ['1'], ['1']])
    answer(places[0], 486)
    answer(three[2], 404)
    expect(statuses()).toHaveLength(1)
  })
})
