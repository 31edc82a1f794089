import { expect } from 'vitest'
import type { SipRequest } from '../message/message.ts'
import { ClientBench, type Far } from './client.ts'
import { nothing } from './core.ts'

const sdp = 'v=0\r\n'

/** An INVITE of an application, as one far end received it. */
export class ClientCall {
  readonly bench: ClientBench
  readonly far: Far
  readonly invite: SipRequest
  readonly txnId: string
  readonly id: string

  constructor(places: readonly string[] = ['192.0.2.11'], body = sdp) {
    this.bench = new ClientBench(places)
    this.far = this.bench.fars[0] as Far
    this.bench.request('INVITE', {}, body)
    this.invite = this.far.take()[0] as SipRequest
    this.txnId = this.bench.received()[0]?.fields[9] ?? ''
    this.id = `${this.invite.callId};from-tag=${this.invite.fromTag}`
  }

  /** Sends a response of the far end. */
  answer(status: number, lines: Record<string, string> = {}, tag = 't', body = '') {
    this.far.answer(this.invite, status, lines, body, tag)
  }

  /** Answers and acknowledges the call. */
  up(lines: Record<string, string> = {}): this {
    this.answer(200, lines, 't', sdp)
    this.bench.within(this.id, 'ACK')
    this.bench.received()
    for (const far of this.bench.fars) far.take()
    return this
  }

  /**
   * Sends a request of the application in the dialog. Returns the agent's answer to the application, and the
   * request that the far end received.
   */
  ask(method: string, lines: Record<string, string> = {}, body = '') {
    this.bench.within(this.id, method, lines, body)
    const answer = this.bench.received().findLast(({ fields }) => fields[0] === 'response')
    const [sent] = this.far.take()
    return { said: answer?.fields[2], why: answer?.fields[3], sent }
  }

  /** Returns the statuses and methods that the application received since the last call. */
  statuses(): string[] {
    return this.bench
      .received()
      .filter(({ fields }) => fields[0] === 'sip')
      .map(({ text }) => (text.startsWith('SIP/2.0') ? text.slice(8, 11) : (text.split(' ')[0] as string)))
  }

  /** Checks that no state is left after all timers have expired. */
  end() {
    for (let i = 0; i < 5; i++) this.bench.clock.advance(60_000)
    expect(this.bench.held()).toEqual(nothing)
  }

  /** Hangs up on the application's side, and calls {@link end}. */
  hangUp() {
    const { sent } = this.ask('BYE')
    if (sent) this.far.answer(sent, 200)
    this.end()
  }
}
