import { randomInt } from 'node:crypto'
import type { AudioCodec, BrowserMedia, MediaPort } from '../types.ts'
import { WebRtcError } from './errors.ts'
import { Line, type LineState } from './line.ts'
import type { Relay, Stream } from './relay.ts'
import {
  type AudioFormat,
  checkSuccession,
  commonCodec,
  formatOf,
  type Plan,
  planAnswer,
} from './sdp/negotiate.ts'
import { readSdp } from './sdp/read.ts'
import { type MediaSection, mirrored, type RefusedSection, type Section } from './sdp/session.ts'
import { type LocalSection, writeSdp } from './sdp/write.ts'
import type { MediaWorker, Tenant } from './worker.ts'

/** What a {@link BrowserSession} is made of. */
export interface SessionParts {
  readonly worker: MediaWorker
  readonly port: MediaPort
  readonly relay: Relay
  readonly format: AudioFormat
}

/** One m-line of the session: its transport and what we send over it. */
interface Slot {
  readonly line: Line
  readonly stream?: Stream
}

type StateListener = (state: LineState) => void

/** Id of the mid's header extension in our own offers; clear of the low ids that mediasoup writes of its own accord. */
const ownMidExtension = 10

/**
 * A browser's session. Its state is that of the audio line. {@link close} ends the transports; the edge port belongs to the leg,
 * which closes it.
 */
export class BrowserSession implements BrowserMedia, Tenant {
  readonly port: MediaPort
  readonly codec: AudioCodec
  readonly #worker: MediaWorker
  readonly #relay: Relay
  readonly #format: AudioFormat
  readonly #origin = { id: randomInt(1, 2 ** 48 - 1), version: 0 }
  #slots: readonly (Slot | undefined)[] = []
  #remote: readonly Section[] = []
  #sdp = ''
  #phase: 'new' | 'offered' | 'agreed' | 'closed' = 'new'
  #work: Promise<unknown> = Promise.resolve()
  #listener: StateListener | undefined
  #state: LineState = 'connecting'

  constructor(parts: SessionParts) {
    this.port = parts.port
    this.codec = parts.format.codec
    this.#format = parts.format
    this.#worker = parts.worker
    this.#relay = parts.relay
    this.#worker.tenants.add(this)
  }

  get sdp(): string {
    return this.#sdp
  }

  /** Makes our offer: one audio m-line. */
  async offer(): Promise<void> {
    const line = await this.#openLine()
    // Kept at once, so that a failure of the next step finds it to close.
    this.#slots = [{ line }]
    const slot = { line, stream: await this.#relay.sendTo(line) }
    this.#slots = [slot]
    this.#write([this.#ownOffer(slot)])
    this.#advance('offered')
  }

  /** Answers the first offer, as it was planned. */
  async answer(plans: readonly Plan[]): Promise<void> {
    await this.#apply(plans)
    this.#advance('agreed')
  }

  async accept(answer: string): Promise<void> {
    if (this.#phase !== 'offered')
      throw new WebRtcError('wrong_state', `no answer is awaited (${this.#phase})`)
    const section = this.#readAnswer(answer)
    this.#phase = 'agreed'
    this.#remote = [section]
    await this.#inTurn(async () => {
      const line = this.#slots[0]!.line
      const { opus } = commonCodec(section, [this.codec])
      if (opus) this.#relay.hears(opus)
      await line.take(section.credentials)
      await this.#relay.receiveFrom(line, section)
    })
  }

  renegotiate(offer: string): Promise<string> {
    return this.#inTurn(async () => {
      if (this.#phase !== 'agreed')
        throw new WebRtcError('wrong_state', `no offer can be taken (${this.#phase})`)
      const description = readSdp(offer, 'offer')
      checkSuccession(this.#remote, description.sections)
      await this.#apply(planAnswer(description, [this.codec]).map((plan) => this.#checked(plan)))
      return this.#sdp
    })
  }

  onState(listener: StateListener): void {
    this.#listener = listener
    if (this.#state !== 'connecting') listener(this.#state)
  }

  /** The worker died. */
  lost(): void {
    for (const slot of this.#slots) slot?.line.lost()
    this.#observe('failed')
  }

  async close(): Promise<void> {
    if (this.#phase === 'closed') return
    this.#phase = 'closed'
    this.#worker.tenants.delete(this)
    for (const slot of this.#slots) slot?.line.close()
    this.#relay.close()
    this.#observe('closed')
    await this.#work.catch(() => undefined)
  }

  // One negotiation after the other; a failed one does not keep the next from running.
  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#work.then(run, run)
    this.#work = result.catch(() => undefined)
    return result
  }

  #readAnswer(answer: string): MediaSection {
    const { sections } = readSdp(answer, 'answer')
    const section = sections[0]
    if (sections.length !== 1 || !section)
      throw new WebRtcError('bad_sdp', 'SDP, session: one m-line expected')
    if (section.kind === 'refused')
      throw new WebRtcError('no_common_codec', 'SDP, m-line 1: the audio was refused')
    if (section.kind !== 'audio' || section.mid !== '0') {
      throw new WebRtcError('bad_sdp', 'SDP, m-line 1: audio with a=mid:0 expected')
    }
    const { payloadType } = commonCodec(section, [this.codec])
    this.#checkNumber(payloadType)
    return section
  }

  #checked(plan: Plan): Plan {
    if (plan.kind === 'audio') this.#checkNumber(plan.audio.payloadType)
    return plan
  }

  /** A format keeps its number for the whole session (RFC 3264 section 8.3.2), and what goes through the router has one both ways. */
  #checkNumber(payloadType: number): void {
    if (payloadType !== this.#format.payloadType)
      throw new WebRtcError(
        'bad_sdp',
        `SDP: ${this.codec} with payload type ${this.#format.payloadType} expected`,
      )
  }

  /** Brings the m-lines to what was planned. When it fails, transports that it opened are closed and the old ones stay. */
  async #apply(plans: readonly Plan[]): Promise<void> {
    const before = this.#slots
    const next: (Slot | undefined)[] = []
    const local: (LocalSection | RefusedSection)[] = []
    try {
      for (const [index, plan] of plans.entries()) {
        if (plan.kind === 'refused') {
          next.push(undefined)
          local.push(plan)
          continue
        }
        const slot = await this.#slotFor(plan, before[index], (line) => next.push({ line }))
        next[index] = slot
        local.push(answerTo(plan, slot, this.#worker))
      }
      if (this.#phase === 'closed') throw new WebRtcError('closed', 'the session was closed')
    } catch (error) {
      closeMissing(next, before)
      throw error
    }
    this.#slots = next
    this.#remote = plans.map((plan) => (plan.kind === 'refused' ? plan : plan.section))
    closeMissing(before, next)
    this.#write(local)
    this.#observe(this.#audio()?.state)
  }

  async #slotFor(
    plan: Exclude<Plan, RefusedSection>,
    old: Slot | undefined,
    opened: (line: Line) => void,
  ): Promise<Slot> {
    const kept =
      old && !old.line.isOther(plan.section.credentials) && !old.line.transport.closed ? old : undefined
    const line = kept?.line ?? (await this.#openLine())
    if (!kept) opened(line)
    await line.take(plan.section.credentials)
    if (plan.kind === 'video') return { line }
    const stream = kept?.stream ?? (await this.#relay.sendTo(line))
    await this.#relay.receiveFrom(line, plan.section)
    return { line, stream }
  }

  #openLine(): Promise<Line> {
    return Line.open(this.#worker, () => this.#observe(this.#audio()?.state))
  }

  /** The line with our audio; the only one that has a stream. */
  #audio(): Line | undefined {
    return this.#slots.find((slot) => slot?.stream)?.line
  }

  #ownOffer({ line, stream }: Slot): LocalSection {
    return {
      kind: 'audio',
      mid: '0',
      protocol: 'UDP/TLS/RTP/SAVPF',
      formats: [formatOf(this.#format)],
      direction: 'sendrecv',
      ...line.ice,
      fingerprint: line.fingerprint,
      setup: 'actpass',
      candidates: this.#worker.candidates,
      midExtension: ownMidExtension,
      ...(stream && { stream }),
    }
  }

  #write(sections: readonly (LocalSection | RefusedSection)[]): void {
    this.#origin.version++
    this.#sdp = writeSdp(this.#origin, sections)
  }

  #advance(phase: 'offered' | 'agreed'): void {
    if (this.#phase === 'closed') throw new WebRtcError('closed', 'the session was closed')
    this.#phase = phase
  }

  // `failed` and `closed` are final.
  #observe(state: LineState | undefined): void {
    if (state === undefined || state === this.#state || this.#state === 'failed' || this.#state === 'closed')
      return
    this.#state = state
    this.#listener?.(state)
  }
}

const closeMissing = (from: readonly (Slot | undefined)[], to: readonly (Slot | undefined)[]): void => {
  for (const slot of from) {
    if (slot && !to.some((other) => other?.line === slot.line)) slot.line.close()
  }
}

const answerTo = (plan: Exclude<Plan, RefusedSection>, slot: Slot, worker: MediaWorker): LocalSection => {
  const { section } = plan
  return {
    kind: plan.kind,
    mid: section.mid,
    protocol: section.protocol,
    formats: plan.kind === 'audio' ? [formatOf(plan.audio)] : plan.formats,
    // Nothing is behind a video line yet.
    direction: plan.kind === 'audio' ? mirrored(section.direction) : 'inactive',
    ...slot.line.ice,
    fingerprint: slot.line.fingerprint,
    setup: slot.line.setup,
    candidates: worker.candidates,
    ...(section.midExtension !== undefined && { midExtension: section.midExtension }),
    ...(slot.stream && { stream: slot.stream }),
  }
}
