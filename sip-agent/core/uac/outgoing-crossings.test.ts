import { expect, it } from 'vitest'
import type { SipRequest } from '../../message/message.ts'
import { ClientBench, type Far } from '../../testing/client.ts'
import { nothing } from '../../testing/core.ts'
import type { AppFrame } from '../../testing/recording-app.ts'

const orders = <T>(list: readonly T[]): T[][] =>
  list.length <= 1
    ? [[...list]]
    : list.flatMap((each, i) =>
        orders([...list.slice(0, i), ...list.slice(i + 1)]).map((rest) => [each, ...rest]),
      )

/** One INVITE whose events come in some order, with an application that does what drachtio-srf does. */
class Crossing {
  readonly bench: ClientBench
  readonly far: Far
  readonly invite: SipRequest
  readonly txnId: string
  readonly finals: number[] = []
  readonly methods: string[] = []
  readonly refused: string[] = []
  /** Whether the application gave up before the final response. */
  cancelled = false
  unsolicited = 0
  #dialogId = ''
  #final: number | undefined
  #cancel: SipRequest | undefined
  #answerTo: number | undefined
  #rung = false

  constructor(place: string) {
    this.bench = new ClientBench([place])
    this.far = this.bench.fars[0] as Far
    this.bench.request('INVITE', {}, 'v=0\r\n')
    this.invite = this.far.take()[0] as SipRequest
    this.txnId = this.bench.received()[0]?.fields[9] ?? ''
  }

  run(event: string): void {
    if (event === 'cancel') {
      this.cancelled = this.finals.length === 0
      this.bench.cancel(this.txnId)
    } else if (event === '100' || event === '180') this.#respond(Number(event))
    else if (event.startsWith('cancel ')) {
      this.#answerTo = Number(event.slice(7))
    } else if (event === 'again') {
      if (this.#final) this.#respond(this.#final)
      else if (this.#rung) this.#respond(180)
    } else {
      this.#final = Number(event)
      this.#respond(this.#final)
    }
    this.look()
  }

  #respond(status: number): void {
    if (status === 180) this.#rung = true
    this.far.answer(this.invite, status, {}, status === 200 ? 'v=0\r\n' : '')
  }

  /** Lets both ends react to their received messages. */
  look(): void {
    for (const frame of this.bench.received()) this.#received(frame)
    for (const request of this.far.take()) this.#got(request)
    if (!this.#cancel || this.#answerTo === undefined) return
    this.far.answer(this.#cancel, this.#answerTo)
    this.#cancel = undefined
  }

  #received({ fields, text }: AppFrame): void {
    if (fields[0] === 'response') {
      if (fields[2] === 'NOK') this.refused.push(fields[3] ?? '')
      return
    }
    if (fields[7] === 'unsolicited') {
      this.unsolicited++
      return
    }
    const status = Number(text.slice(8, 11))
    if (fields[7] !== this.txnId || status < 200) return
    this.finals.push(status)
    if (status !== 200) return
    this.#dialogId = fields[8] ?? ''
    this.bench.within(this.#dialogId, 'ACK')
    this.look()
  }

  #got(request: SipRequest): void {
    // What UDP repeats until it is answered says nothing new.
    const known = this.methods.includes(`${request.method} ${request.via.branch}`)
    if (!known || request.method === 'ACK') this.methods.push(`${request.method} ${request.via.branch}`)
    if (request.method === 'CANCEL') this.#cancel = request
    if (request.method === 'BYE') this.far.answer(request, 200)
  }

  /** Time passes until nothing can come any more; a call that is up is ended by its application. */
  settle(): void {
    if (this.finals[0] === 200 && !this.cancelled) {
      this.bench.within(this.#dialogId, 'BYE')
      this.look()
    }
    for (let i = 0; i < 10; i++) {
      this.bench.clock.advance(30_000)
      this.look()
    }
  }

  count(method: string): number {
    return this.methods.filter((each) => each.startsWith(`${method} `)).length
  }
}

const check = (events: readonly string[], place: string): void => {
  const crossing = new Crossing(place)
  for (const event of events) crossing.run(event)
  crossing.settle()
  const final = events.includes('200') ? 200 : 487
  const at = (event: string) => events.indexOf(event)
  const before = events.slice(0, at(String(final)))
  const cancelled = before.includes('cancel')
  const progress = before.includes('100') || before.includes('180')
  const facts = {
    finals: crossing.finals,
    cancels: crossing.count('CANCEL'),
    acknowledged: crossing.count('ACK') >= (at('again') > at(String(final)) ? 2 : 1),
    byes: crossing.count('BYE'),
    unsolicited: crossing.unsolicited,
    refused: crossing.refused,
    held: crossing.bench.held(),
  }
  const late = `unable to cancel unknown transaction id: ${crossing.txnId}`
  expect(facts, events.join(', ')).toEqual({
    finals: [final],
    cancels: cancelled && progress ? 1 : 0,
    acknowledged: true,
    byes: final === 200 ? 1 : 0,
    unsolicited: final === 200 && cancelled ? 1 : 0,
    refused: cancelled ? [] : [late],
    held: nothing,
  })
}

it.each([
  ['200', 'cancel 200'],
  ['200', 'cancel 481'],
  ['487', 'cancel 200'],
  ['487', 'cancel 481'],
])('a CANCEL that crosses a %s, itself answered by %s, leaves nothing open in any order', (final, answer) => {
  for (const events of orders(['cancel', '100', '180', final, answer, 'again'])) check(events, '192.0.2.9')
})

it('a CANCEL that crosses a response over TCP leaves nothing open in any order', () => {
  for (const events of orders(['cancel', '180', '200', 'cancel 200', 'again'])) check(events, 'tcp:192.0.2.9')
})

it('a CANCEL and an INVITE without any answer end in one 487', () => {
  for (const events of orders(['cancel', '100', '180'])) {
    const crossing = new Crossing('192.0.2.9')
    for (const event of events) crossing.run(event)
    crossing.settle()
    expect([crossing.finals, crossing.count('CANCEL'), crossing.bench.held()]).toEqual([[487], 1, nothing])
  }
})
