import { randomInt, randomUUID } from 'node:crypto'
import { guarded } from '../edge/guarded.ts'
import { WebRtcError } from './errors.ts'
import { Line, type LineState } from './line.ts'
import type { Relay } from './relay.ts'
import { checkSuccession, formatsOf, type Plan, type UsedPlan } from './sdp/negotiate.ts'
import { readSdp } from './sdp/read.ts'
import { mirrored, type RefusedSection, type Section, type SessionDescription } from './sdp/session.ts'
import { checkSameVideo, type VideoFormat } from './sdp/video.ts'
import { type LocalSection, type Stream, writeSdp } from './sdp/write.ts'
import { extensionsOf } from './video/parameters.ts'
import { SessionVideo } from './video/session-video.ts'
import type { MediaWorker, Tenant } from './worker.ts'

/** What a {@link Session} is made of. */
export interface SessionParts {
  readonly worker: MediaWorker
  /** The audio of the session; a screen has none. */
  readonly relay?: Relay
  /** How a later offer is going to be answered. Throws what refuses it. */
  readonly plan: (offer: SessionDescription) => readonly Plan[]
}

/** One m-line of the session: its transport, its format if it is video, and what we send over it. */
export interface Slot {
  readonly line: Line
  readonly video?: VideoFormat
  readonly stream: Stream
}

type StateListener = (state: LineState) => void

/**
 * A session of a browser: its offers and answers, and the transports of its m-lines. Its state is that of the audio line; of a screen, which
 * has none, that of the video line. {@link close} ends the transports.
 */
export class Session implements Tenant {
  readonly video = new SessionVideo()
  protected readonly worker: MediaWorker
  readonly #relay: Relay | undefined
  readonly #plan: SessionParts['plan']
  readonly #origin = { id: randomInt(1, 2 ** 48 - 1), version: 0 }
  readonly #track = randomUUID()
  #slots: readonly (Slot | undefined)[] = []
  #remote: readonly Section[] = []
  #sdp = ''
  #phase: 'new' | 'offered' | 'agreed' | 'closed' = 'new'
  #work: Promise<unknown> = Promise.resolve()
  #listener: StateListener | undefined
  #state: LineState = 'connecting'

  constructor({ worker, relay, plan }: SessionParts) {
    this.worker = worker
    this.#relay = relay
    this.#plan = plan
    worker.tenants.add(this)
  }

  /** Our description. */
  get sdp(): string {
    return this.#sdp
  }

  /** Answers the first offer, as it was planned. */
  async answer(plans: readonly Plan[]): Promise<void> {
    await this.#apply(plans)
    this.advance('agreed')
  }

  /** Answers a later offer. */
  renegotiate(offer: string): Promise<string> {
    return this.inTurn(async () => {
      if (this.#phase !== 'agreed')
        throw new WebRtcError('wrong_state', `no offer can be taken (${this.#phase})`)
      const description = readSdp(offer, 'offer')
      checkSuccession(this.#remote, description.sections)
      await this.#apply(this.#plan(description))
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
    void this.video.close()
    this.#observe('crashed')
  }

  /** Idempotent. */
  async close(): Promise<void> {
    if (this.#phase === 'closed') return
    this.#phase = 'closed'
    this.worker.tenants.delete(this)
    for (const slot of this.#slots) slot?.line.close()
    this.#relay?.close()
    this.#observe('closed')
    await Promise.all([this.video.close(), this.#work.catch(() => undefined)])
  }

  /** M-lines of our offer. */
  protected get slotCount(): number {
    return this.#slots.length
  }

  /** One negotiation after the other; a failed one does not keep the next from running. */
  protected inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#work.then(run, run)
    this.#work = result.catch(() => undefined)
    return result
  }

  /** Throws where no answer of the browser is awaited. */
  protected checkOffered(): void {
    if (this.#phase !== 'offered')
      throw new WebRtcError('wrong_state', `no answer is awaited (${this.#phase})`)
  }

  protected advance(phase: 'offered' | 'agreed'): void {
    if (this.#phase === 'closed') throw new WebRtcError('closed', 'the session was closed')
    this.#phase = phase
  }

  /** The m-lines of our own offer. They are the session's from the start, so that a failure of the next step finds them to close. */
  protected async openSlots(videos: readonly (VideoFormat | undefined)[]): Promise<readonly Slot[]> {
    const slots: Slot[] = []
    this.#slots = slots
    for (const video of videos) {
      const line = await this.#openLine(video)
      slots.push({ line, ...(video && { video }), stream: { track: this.#track } })
      const slot = { ...slots.at(-1)!, stream: await this.#streamTo(line, video) }
      slots.splice(-1, 1, slot)
    }
    return slots
  }

  /** Takes what the browser's answer to our offer says of each m-line. */
  protected async useAnswer(sections: readonly Section[], plans: readonly Plan[]): Promise<void> {
    this.#remote = sections
    const before = this.#slots
    this.#slots = before.map((slot, index) => (plans[index]?.kind === 'refused' ? undefined : slot))
    closeMissing(before, this.#slots)
    for (const [index, plan] of plans.entries()) {
      if (plan.kind !== 'refused') await this.#slots[index]?.line.take(plan.section.credentials)
    }
    await this.#use(plans, this.#slots)
  }

  /** Writes our description. */
  protected write(sections: readonly (LocalSection | RefusedSection)[]): void {
    this.#origin.version++
    this.#sdp = writeSdp(this.#origin, sections)
  }

  /** Brings the m-lines to what was planned. When it fails, transports that it opened are closed and the old ones stay. */
  async #apply(plans: readonly Plan[]): Promise<void> {
    const before = this.#slots
    // Told before anything is touched.
    const kept = plans.map((plan, index) => keptOf(plan, before[index]))
    const next: (Slot | undefined)[] = []
    try {
      for (const [index, plan] of plans.entries()) {
        if (plan.kind === 'refused') next[index] = undefined
        else await this.#fill(next, index, plan, kept[index])
      }
      await this.#use(plans, next)
      if (this.#phase === 'closed') throw new WebRtcError('closed', 'the session was closed')
    } catch (error) {
      closeMissing(next, before)
      if (this.#phase === 'closed') await this.video.close()
      throw error
    }
    this.#slots = next
    this.#remote = plans.map((plan) => (plan.kind === 'refused' ? plan : plan.section))
    closeMissing(before, next)
    this.write(this.#inOrder(plans.map((plan, index) => answerTo(plan, next[index], this.worker))))
    this.#lineChanged()
  }

  async #fill(
    slots: (Slot | undefined)[],
    index: number,
    plan: UsedPlan,
    kept: Slot | undefined,
  ): Promise<void> {
    const { credentials } = plan.section
    const video = plan.kind === 'video' ? plan.video : undefined
    const line = kept?.line ?? (await this.#openLine(video))
    const slot = kept ?? { line, ...(video && { video }), stream: { track: this.#track } }
    slots[index] = slot
    await line.take(credentials)
    if (!kept) slots[index] = { ...slot, stream: await this.#streamTo(line, video) }
  }

  /** Lets audio and video through the lines as planned. */
  async #use(plans: readonly Plan[], slots: readonly (Slot | undefined)[]): Promise<void> {
    for (const [index, plan] of plans.entries()) {
      const line = slots[index]?.line
      if (plan.kind === 'audio' && line) await this.#relay?.receiveFrom(line, plan.section)
    }
    for (const [index, plan] of plans.entries()) {
      const line = slots[index]?.line
      if (plan.kind !== 'video' || !plan.used || !line) continue
      return this.video.use(line, plan.section, plan.video)
    }
    this.video.unuse()
  }

  async #openLine(video: VideoFormat | undefined): Promise<Line> {
    const { routers } = this.worker
    const router = video ? await routers.video(video) : await (this.#relay?.router ?? routers.audio())
    return Line.open(this.worker, router, () => this.#lineChanged())
  }

  async #streamTo(line: Line, video: VideoFormat | undefined): Promise<Stream> {
    if (video || !this.#relay) return { track: this.#track }
    return this.#relay.sendTo(line)
  }

  // The published SDK turns the answer to an offer of video before audio around, as it takes audio to be first. That it makes for screens alone.
  #inOrder<T extends { readonly kind: string; readonly media?: string }>(
    sections: readonly T[],
  ): readonly T[] {
    if (this.#relay) return sections
    const isAudio = ({ kind, media }: T) => kind === 'audio' || media === 'audio'
    return [...sections.filter(isAudio), ...sections.filter((section) => !isAudio(section))]
  }

  #lineChanged(): void {
    const main = this.#slots.find((slot) => slot && (this.#relay ? !slot.video : slot.video))
    this.#observe(main?.line.state)
  }

  // `failed`, `closed` and `crashed` are final, but a process may die after a transport has failed.
  #observe(state: LineState | undefined): void {
    if (state === undefined || state === this.#state) return
    if (this.#state === 'closed' || this.#state === 'crashed') return
    if (this.#state === 'failed' && state !== 'crashed') return
    this.#state = state
    guarded(() => this.#listener?.(state))
  }
}

/** The slot that an m-line goes on with; undefined where it takes a new transport. Throws `bad_sdp` where its video is another than was agreed. */
const keptOf = (plan: Plan, old: Slot | undefined): Slot | undefined => {
  if (plan.kind === 'refused' || !old || old.line.transport.closed) return undefined
  if (old.line.isOther(plan.section.credentials)) return undefined
  if (plan.kind === 'video' && old.video) checkSameVideo(old.video, plan.video)
  return old
}

const closeMissing = (from: readonly (Slot | undefined)[], to: readonly (Slot | undefined)[]): void => {
  for (const slot of from) {
    if (slot && !to.some((other) => other?.line === slot.line)) slot.line.close()
  }
}

const answerTo = (plan: Plan, slot: Slot | undefined, worker: MediaWorker): LocalSection | RefusedSection => {
  if (plan.kind === 'refused' || !slot) return plan as RefusedSection
  const { section } = plan
  const { midExtension } = section
  const mirror = mirrored(section.direction)
  return {
    kind: plan.kind,
    mid: section.mid,
    protocol: section.protocol,
    formats: plan.kind === 'audio' ? formatsOf(plan.audio) : [plan.video],
    direction: plan.kind === 'audio' || plan.used ? mirror : 'inactive',
    ...slot.line.ice,
    fingerprint: slot.line.fingerprint,
    setup: slot.line.setup,
    candidates: worker.candidates,
    ...(plan.kind === 'video' ? extensionsOf(section) : midExtension !== undefined && { midExtension }),
    stream: slot.stream,
  }
}
