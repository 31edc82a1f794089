import { Peer } from '@trunkline/sip-agent/testing/peer'
import { expect } from 'vitest'
import { type Bench, type BenchOptions, carrierSdp, startBench } from './bench.ts'

/** Parts of an INVITE that a test changes. */
export interface InviteOptions {
  readonly body?: string
  readonly to?: string
  readonly extra?: Record<string, string>
}

/** Carrier that calls the bench over UDP. */
export class Carrier {
  readonly bench: Bench
  readonly peer: Peer

  constructor(bench: Bench, peer: Peer) {
    this.bench = bench
    this.peer = peer
  }

  static async start(options: BenchOptions = {}): Promise<Carrier> {
    const bench = await startBench(options)
    return new Carrier(bench, await Peer.udp(bench.udp))
  }

  invite(options: InviteOptions = {}) {
    const call = this.peer.call(options.to ?? 'sip:+49301@demo.example')
    const branch = this.peer.send('INVITE', call, {
      body: options.body ?? carrierSdp(),
      extra: options.extra,
    })
    return { call, branch }
  }

  /** Places a call up to the ACK. */
  async answered(options: InviteOptions = {}) {
    const { call } = this.invite(options)
    const { arrival, heard } = await this.bench.arrival()
    const answer = arrival.leg.answer()
    const ok = await this.peer.response(200)
    const to = ok.headers.first('to')!
    this.peer.send('ACK', call, { to })
    await answer
    return { call, to, arrival, heard, ok }
  }

  /** Expects that no state of a call is left. */
  async nothingLeft(): Promise<void> {
    await expect.poll(() => this.bench.sip.legs).toBe(0)
    expect(this.bench.edge.used).toBe(0)
    expect(this.bench.sip.busyDomains).toBe(0)
  }

  async close(): Promise<void> {
    this.peer.close()
    await this.bench.close()
  }
}
