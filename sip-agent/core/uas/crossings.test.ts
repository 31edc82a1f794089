import { expect, it } from 'vitest'
import { CoreBench, nothing } from '../../testing/core.ts'
import { generator } from '../../testing/mutate.ts'

const orders = <T>(list: readonly T[]): T[][] =>
  list.length <= 1
    ? [[...list]]
    : list.flatMap((each, i) =>
        orders([...list.slice(0, i), ...list.slice(i + 1)]).map((rest) => [each, ...rest]),
      )

/** One call whose events come in some order, with what the peer and the application saw of it. */
class Crossing {
  readonly bench: CoreBench
  readonly txnId: string
  readonly toInvite: number[] = []
  readonly toCancel: number[] = []
  readonly toPrack: number[] = []
  readonly cancels: string[] = []
  readonly frames: string[] = []
  #final: { status: number; tag: string } | undefined
  #reliable: { rseq: string; tag: string } | undefined

  constructor(reliable: boolean) {
    this.bench = new CoreBench({ reliable })
    this.#invite()
    this.txnId = this.bench.handed()[0]?.txnId as string
  }

  #invite() {
    this.bench.receive('INVITE', 1, 'i', { Supported: '100rel' }, 'v=0\r\n')
  }

  readonly events: Record<string, () => void> = {
    invite: () => this.#invite(),
    180: () => this.bench.respond(this.txnId, 180, {}, '', '180'),
    183: () => this.bench.respond(this.txnId, 183, { Require: '100rel' }, '', '183'),
    200: () => this.bench.respond(this.txnId, 200, {}, 'v=0\r\n', '200'),
    486: () => this.bench.respond(this.txnId, 486, {}, '', '486'),
    cancel: () => this.bench.receive('CANCEL', 1, 'i'),
    ack: () => this.#ack(),
    prack: () => {
      const { rseq = '1', tag = 'x' } = this.#reliable ?? {}
      this.bench.receive('PRACK', 2, 'p', { To: `<sip:b@h>;tag=${tag}`, RAck: `${rseq} 1 INVITE` })
    },
  }

  /**
   * The ACK that belongs to what the peer has seen; before any final response one that belongs to nothing.
   */
  #ack() {
    const { status = 0, tag = '' } = this.#final ?? {}
    this.bench.receive(
      'ACK',
      1,
      status < 300 && status > 0 ? 'a' : 'i',
      tag ? { To: `<sip:b@h>;tag=${tag}` } : {},
    )
  }

  run(event: string) {
    this.events[event]?.()
    this.look()
  }

  look() {
    for (const { status, seqMethod, toTag, headers } of this.bench.sent()) {
      if (seqMethod === 'CANCEL') this.toCancel.push(status)
      else if (seqMethod === 'PRACK') this.toPrack.push(status)
      else if (this.toInvite.at(-1) !== status) this.toInvite.push(status)
      if (seqMethod !== 'INVITE') continue
      if (status >= 200) this.#final = { status, tag: toTag }
      const rseq = headers.first('rseq')
      if (rseq) this.#reliable = { rseq, tag: toTag }
    }
    for (const { fields, text } of this.bench.received()) {
      const method = text.split(' ', 1)[0] as string
      if (fields[0] === 'response') this.frames.push(`${fields[1]} ${fields[2]}`)
      else if (method === 'CANCEL') this.cancels.push(method)
      else if (method === 'PRACK') this.bench.respond(fields[7] as string, 200, {}, '', 'prack')
    }
  }

  /** Lets the peer and the application end a remaining call. */
  finish() {
    this.bench.clock.advance(5_000)
    this.look()
    if (this.#final) this.#ack()
    if (this.#final?.status === 200) {
      this.bench.receive('BYE', 3, 'b', { To: `<sip:b@h>;tag=${this.#final.tag}` })
      const bye = this.bench.handed().find((each) => each.method === 'BYE')
      if (bye) this.bench.respond(bye.txnId, 200)
    }
    this.bench.clock.advance(70_000)
    this.look()
  }
}

const check = (order: readonly string[], reliable: boolean) => {
  const call = new Crossing(reliable)
  for (const event of order) call.run(event)
  call.finish()
  const { toInvite, toCancel, cancels, frames, bench } = call
  const finals = toInvite.filter((status) => status >= 200)
  const context = `${order.join(' ')}: ${toInvite.join(' ')}`
  expect(bench.faults, context).toEqual([])
  expect(bench.held(), context).toEqual(nothing)
  // One final answer, and the application knows which.
  expect(finals, context).toHaveLength(1)
  expect(
    [...toInvite].sort((a, b) => a - b),
    context,
  ).toEqual(toInvite)
  expect(cancels, context).toHaveLength(finals[0] === 487 || finals[0] === 504 ? 1 : 0)
  for (const status of [200, 486]) {
    expect(
      frames.filter((each) => each.startsWith(String(status))),
      context,
    ).toEqual([`${status} ${finals[0] === status ? 'OK' : 'NOK'}`])
  }
  // On a stream nothing is left of a refused INVITE after its ACK (RFC 3261 17.2.1, timer I).
  const over = reliable && finals[0] !== 200 && order.indexOf('cancel') > order.indexOf('ack')
  if (over) expect([200, 481], context).toContain(toCancel[0])
  else expect(toCancel, context).toEqual([200])
}

it('a call leaves nothing open in any order of crossing messages', () => {
  for (const order of orders(['invite', '180', '200', '486', 'cancel', 'ack'])) check(order, false)
})

it('a call over TCP, without retransmissions, leaves nothing open in any order', () => {
  for (const order of orders(['180', '200', '486', 'cancel', 'ack'])) check(order, true)
})

it('a call with a reliable provisional response leaves nothing open whenever its PRACK arrives', () => {
  for (const order of orders(['183', 'prack', '200', '486', 'cancel', 'ack'])) check(order, false)
})

it('1,000 random calls with crossing messages leave nothing open', () => {
  const random = generator(3262)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  for (let round = 0; round < 1_000; round++) {
    const bench = new CoreBench()
    const asked: string[] = []
    const said: string[] = []
    let tag = ''
    let seq = 1
    let rseq = '1'
    const look = () => {
      for (const response of bench.sent()) {
        if (response.toTag !== '') tag = response.toTag
        rseq = response.headers.first('rseq') ?? rseq
      }
      for (const each of bench.handed()) asked.push(each.txnId)
    }
    const within = (method: string, lines: Record<string, string> = {}, body = pick(['', 'v=0\r\n'])) => {
      seq += pick([0, 1, 1, 1])
      const to = { To: `<sip:b@h>${tag && `;tag=${tag}`}` }
      bench.receive(method, seq, `${method}${pick([seq, 1])}`, { ...to, ...lines }, body)
    }
    const events: readonly (() => void)[] = [
      () => bench.receive('INVITE', 1, 'i', { Supported: '100rel' }, pick(['', 'v=0\r\n'])),
      () => bench.receive('CANCEL', 1, 'i'),
      () => bench.receive('ACK', pick([1, seq]), pick(['i', 'a']), { To: `<sip:b@h>;tag=${tag || 'x'}` }),
      () => within('PRACK', { RAck: `${rseq} ${pick([1, seq])} INVITE` }),
      ...['INVITE', 'UPDATE', 'INFO', 'NOTIFY', 'BYE'].map((method) => () => within(method)),
      ...Array(4).fill(() => {
        const status = pick([100, 180, 183, 183, 200, 200, 202, 404, 486])
        const lines = pick<Record<string, string>>([
          {},
          {},
          {},
          { Require: '100rel' },
          { Contact: '<sip:broken' },
        ])
        bench.respond(pick([...asked, 'none']), status, lines, pick(['', 'v=0\r\n']))
      }),
      () => bench.clock.advance(pick([10, 300, 1_000, 31_000])),
      () => random() < 0.1 && bench.incoming.lost(bench.app),
    ]
    events[0]?.()
    for (let step = 0; step < 14; step++) {
      const event = Math.floor(random() * events.length)
      said.push(String(event))
      events[event]?.()
      look()
    }
    // The far end hangs up what stands, the application refuses what it has not answered, and the
    // transactions have their time.
    within('BYE')
    look()
    for (const txnId of asked) bench.respond(txnId, 486)
    bench.clock.advance(200_000)
    for (const dialog of bench.dialogs.of(bench.app)) bench.dialogs.remove(dialog)
    expect([bench.faults, bench.held()], `round ${round}: ${said.join(' ')}`).toEqual([[], nothing])
  }
})
