import { randomInt, randomUUID } from 'node:crypto'
import { guard } from '../guard.ts'
import { WebRtcError } from './errors.ts'
import { MLine, type MLineState } from './m-line.ts'
import type { Relay } from './relay.ts'
import { checkSuccession, formatsOf, type Plan, type UsedPlan } from './sdp/negotiate.ts'
import { readSdp } from './sdp/read-sdp.ts'
import {
  mirrored,
  type RefusedSection,
  type Section,
  type SessionDescription,
} from './sdp/session-description.ts'
import { checkSameVideo, type VideoFormat } from './sdp/video-format.ts'
import { type LocalSection, type Stream, writeSdp } from './sdp/write-sdp.ts'
import { SenderReports } from './sender-reports.ts'
import { SessionVideo } from './video/session-video.ts'
import { extensionsOf } from './video-parameters.ts'
import type { MediaWorker, TransportOwner } from './worker-supervisor.ts'

/** Collaborators of a {@link WebRtcSession}. */
export interface SessionDeps {
  readonly worker: MediaWorker
  /** Returns a running worker after the death of the present one. */
  readonly nextWorker: () => Promise<MediaWorker>
  /** Audio of the session; absent without. */
  readonly relay?: Relay | undefined
  /** Whether the browser only sends, such as a shared screen; default false. */
  readonly isSource?: boolean
  /** Plans the answer to a later offer. Throws if the offer is rejected. */
  readonly plan: (offer: SessionDescription) => readonly Plan[]
}

/** One m-line of the session, its format if it is video, and the stream sent over it. */
export interface MLineSlot {
  readonly line: MLine
  readonly video?: VideoFormat
  readonly stream: Stream
}

type StateListener = (state: MLineState) => void

/**
 * Session of a browser: its offers and answers, and its m-lines. The state is that of the audio m-line; for a
 * source, that of the video m-line if it has one. {@link close} closes the transports.
 */
export class WebRtcSession implements TransportOwner {
  readonly video = new SessionVideo()
  #worker: MediaWorker
  readonly #nextWorker: SessionDeps['nextWorker']
  readonly #relay: Relay | undefined
  readonly #isSource: boolean
  readonly #plan: SessionDeps['plan']
  readonly #origin = { id: randomInt(1, 2 ** 48 - 1), version: 0 }
  readonly #track = randomUUID()
  readonly #reports = new SenderReports()
  #slots: readonly (MLineSlot | undefined)[] = []
  #remote: readonly Section[] = []
  #sdp = ''
  #phase: 'new' | 'offered' | 'agreed' | 'closed' = 'new'
  #work: Promise<unknown> = Promise.resolve()
  #listener: StateListener | undefined
  #state: MLineState = 'connecting'
  /** Whether the worker has died. */
  #isLost = false

  constructor({ worker, nextWorker, relay, isSource = false, plan }: SessionDeps) {
    this.#worker = worker
    this.#nextWorker = nextWorker
    this.#relay = relay
    this.#isSource = isSource
    this.#plan = plan
    worker.owners.add(this)
  }

  /** Local description. */
  get sdp(): string {
    return this.#sdp
  }

  /** Whether the browser sends video over this session. */
  get hasVideo(): boolean {
    return this.video.camera.current !== undefined
  }

  /** Answers the first offer as planned. */
  async answer(plans: readonly Plan[]): Promise<void> {
    await this.#apply(plans)
    this.advance('agreed')
  }

  /** Answers a later offer. After the death of the worker, the session continues in another one. */
  renegotiate(offer: string): Promise<string> {
    return this.inTurn(async () => {
      if (this.#phase !== 'agreed')
        throw new WebRtcError('wrong_state', `an offer is not permitted in this state (${this.#phase})`)
      const description = readSdp(offer, 'offer')
      checkSuccession(this.#remote, description.sections)
      if (this.#isLost) await this.#move()
      await this.#apply(this.#plan(description))
      return this.#sdp
    })
  }

  onState(listener: StateListener): void {
    this.#listener = guard(listener)
    if (this.#state !== 'connecting') listener(this.#state)
  }

  /** Ends all streams after the death of the worker. */
  lost(): void {
    this.#isLost = true
    for (const slot of this.#slots) slot?.line.lost()
    this.video.unuse()
    this.#observe('crashed')
  }

  /** Closes the session. Idempotent. */
  async close(): Promise<void> {
    if (this.#phase === 'closed') return
    this.#phase = 'closed'
    this.#worker.owners.delete(this)
    for (const slot of this.#slots) slot?.line.close()
    this.#relay?.close()
    this.#observe('closed')
    await Promise.all([this.video.close(), this.#work.catch(() => undefined)])
  }

  /** Worker that has the transports. */
  protected get worker(): MediaWorker {
    return this.#worker
  }

  /** Number of m-lines in the local offer. */
  protected get slotCount(): number {
    return this.#slots.length
  }

  /** Runs negotiations one after another; a failed one does not block the next. */
  protected inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#work.then(run, run)
    this.#work = result.catch(() => undefined)
    return result
  }

  /** Throws unless the browser's answer is expected. */
  protected checkOffered(): void {
    if (this.#phase !== 'offered')
      throw new WebRtcError('wrong_state', `an answer is not expected in this state (${this.#phase})`)
  }

  protected advance(phase: 'offered' | 'agreed'): void {
    if (this.#phase === 'closed') throw new WebRtcError('closed', 'the session was closed')
    this.#phase = phase
  }

  /**
   * Opens the m-lines of the local offer. They belong to the session at once, so that a later failure closes
   * them.
   */
  protected async openSlots(videos: readonly (VideoFormat | undefined)[]): Promise<readonly MLineSlot[]> {
    const slots: MLineSlot[] = []
    this.#slots = slots
    for (const video of videos) {
      const line = await this.#openLine(video)
      slots.push({ line, ...(video && { video }), stream: { track: this.#track } })
      const slot = { ...slots.at(-1)!, stream: await this.#streamTo(line, video) }
      slots.splice(-1, 1, slot)
    }
    return slots
  }

  /** Applies the browser's answer to each m-line. */
  protected async useAnswer(sections: readonly Section[], plans: readonly Plan[]): Promise<void> {
    this.#remote = sections
    const before = this.#slots
    this.#slots = before.map((slot, index) => (plans[index]?.kind === 'refused' ? undefined : slot))
    closeMissing(before, this.#slots)
    for (const [index, plan] of plans.entries()) {
      if (plan.kind !== 'refused') await this.#slots[index]?.line.applyCredentials(plan.section.credentials)
    }
    await this.#use(plans, this.#slots)
  }

  /** Writes the local description. */
  protected write(sections: readonly (LocalSection | RefusedSection)[]): void {
    this.#origin.version++
    this.#sdp = writeSdp(this.#origin, sections)
  }

  /** Continues in another worker, without m-lines. */
  async #move(): Promise<void> {
    const worker = await this.#nextWorker()
    try {
      await this.#relay?.moveTo(worker)
    } finally {
      if (this.#phase === 'closed') this.#relay?.close()
    }
    if (this.#phase === 'closed') throw new WebRtcError('closed', 'the session was closed')
    this.#worker = worker
    worker.owners.add(this)
    this.#slots = []
    this.#isLost = false
    this.#state = 'connecting'
  }

  /** Changes the m-lines as planned. On failure, closes new transports and keeps the old ones. */
  async #apply(plans: readonly Plan[]): Promise<void> {
    const before = this.#slots
    // Checked before anything changes.
    const kept = plans.map((plan, index) => keptSlot(plan, before[index]))
    const next: (MLineSlot | undefined)[] = []
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
    slots: (MLineSlot | undefined)[],
    index: number,
    plan: UsedPlan,
    kept: MLineSlot | undefined,
  ): Promise<void> {
    const { credentials } = plan.section
    const video = plan.kind === 'video' ? plan.video : undefined
    const line = kept?.line ?? (await this.#openLine(video))
    const slot = kept ?? { line, ...(video && { video }), stream: { track: this.#track } }
    slots[index] = slot
    await line.applyCredentials(credentials)
    if (!kept) slots[index] = { ...slot, stream: await this.#streamTo(line, video) }
  }

  /** Connects audio and video to the m-lines as planned. */
  async #use(plans: readonly Plan[], slots: readonly (MLineSlot | undefined)[]): Promise<void> {
    for (const [index, plan] of plans.entries()) {
      const line = slots[index]?.line
      if (plan.kind === 'audio' && line) await this.#relay?.receiveFrom(line, plan.section)
    }
    const [main, view] = plans.flatMap((plan, index) => {
      const line = slots[index]?.line
      return plan.kind === 'video' && plan.isUsed && line
        ? [{ line, section: plan.section, format: plan.video, simulcast: plan.simulcast }]
        : []
    })
    if (main) await this.video.use(main, view)
    else this.video.unuse()
  }

  async #openLine(video: VideoFormat | undefined): Promise<MLine> {
    const { routers } = this.worker
    const router = video ? await routers.video(video) : await (this.#relay?.router ?? routers.audio())
    return MLine.open(this.worker, router, () => this.#lineChanged(), { reports: this.#reports })
  }

  async #streamTo(line: MLine, video: VideoFormat | undefined): Promise<Stream> {
    if (video || !this.#relay || this.#isSource) return { track: this.#track }
    return this.#relay.sendTo(line)
  }

  // For sources, the published SDK expects audio first and reorders the answer to an offer with video first.
  // This is only needed for sources.
  #inOrder<T extends { readonly kind: string; readonly media?: string }>(
    sections: readonly T[],
  ): readonly T[] {
    if (!this.#isSource) return sections
    const isAudio = ({ kind, media }: T) => kind === 'audio' || media === 'audio'
    return [...sections.filter(isAudio), ...sections.filter((section) => !isAudio(section))]
  }

  #lineChanged(): void {
    const slots = this.#slots.filter((slot) => slot !== undefined)
    const video = this.#isSource ? slots.find((slot) => slot.video) : undefined
    this.#observe((video ?? slots.find((slot) => !slot.video))?.line.state)
  }

  // `failed`, `closed` and `crashed` are final for these transports, but a process may die after a transport
  // has failed.
  #observe(state: MLineState | undefined): void {
    if (state === undefined || state === this.#state) return
    if (this.#state === 'closed' || this.#state === 'crashed') return
    if (this.#state === 'failed' && state !== 'crashed') return
    this.#state = state
    this.#listener?.(state)
  }
}

/**
 * Returns the slot that an m-line keeps; undefined if it needs a new transport. Throws `bad_sdp` if its video
 * format has changed.
 */
const keptSlot = (plan: Plan, old: MLineSlot | undefined): MLineSlot | undefined => {
  if (plan.kind === 'refused' || !old || old.line.transport.closed) return undefined
  if (old.line.hasOtherCertificate(plan.section.credentials)) return undefined
  if (plan.kind === 'video' && old.video) checkSameVideo(old.video, plan.video)
  return old
}

const closeMissing = (
  from: readonly (MLineSlot | undefined)[],
  to: readonly (MLineSlot | undefined)[],
): void => {
  for (const slot of from) {
    if (slot && !to.some((other) => other?.line === slot.line)) slot.line.close()
  }
}

const answerTo = (
  plan: Plan,
  slot: MLineSlot | undefined,
  worker: MediaWorker,
): LocalSection | RefusedSection => {
  if (plan.kind === 'refused' || !slot) return plan as RefusedSection
  const { section } = plan
  const { midExtension } = section
  const simulcast = plan.kind === 'video' ? plan.simulcast : undefined
  const mirror = simulcast ? 'recvonly' : mirrored(section.direction)
  return {
    kind: plan.kind,
    mid: section.mid,
    protocol: section.protocol,
    formats: plan.kind === 'audio' ? formatsOf(plan.audio) : [plan.video],
    direction: plan.kind === 'audio' || plan.isUsed ? mirror : 'inactive',
    ...slot.line.ice,
    fingerprint: slot.line.fingerprint,
    setup: slot.line.setup,
    candidates: worker.candidates,
    ...(plan.kind === 'video'
      ? extensionsOf(section, simulcast !== undefined)
      : midExtension !== undefined && { midExtension }),
    ...(simulcast && { simulcast }),
    stream: slot.stream,
  }
}
