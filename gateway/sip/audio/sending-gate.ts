import type { FarEnd, MediaPort, NearEnd, PortStats } from '../../../media/types.ts'
import type { Clock, Timer } from '../../clock.ts'
import { TrunklineError } from '../../errors.ts'
import { wordsOf } from '../../networks.ts'

/** What is known of a stranger, a caller who is neither known by its address nor authenticated. */
export interface StrangerMedia {
  readonly clock: Clock
  /** The stranger is certainly at the source of its signalling, as on a connection. */
  readonly isConfirmed: boolean
}

/** Total time for which audio goes to addresses other than the caller's without a packet from there, in ms. */
const trialMs = 2_000
/** Intervals at which packets of such an address are looked for, in ms: within the trial, and after it. */
const lookMs = 100
const laterLookMs = 500
/** Time without a packet after which the call ends, in ms. The port's own wait stands still while nothing is sent. */
const patienceMs = 30_000
/** Maximum number of addresses that are remembered as proven. */
const maxProven = 16

/** An address, not the caller's own, from which packets are awaited. */
interface Watched {
  readonly address: string
  readonly since: number
  /** Counters of the port at the beginning; undefined until they are known. */
  before: PortStats | undefined
}

/**
 * Holds back what is sent to a stranger until it is certain that it reaches the one who asked for it. Otherwise one forged INVITE makes
 * the gateway send audio to any address that its SDP names. Until the stranger has proved that it is at the source of its signalling,
 * nothing is sent. From then on audio goes to that address. To another one it goes for two seconds in all, and from there on only if packets
 * come from it, or RTCP that reports on ours.
 */
export class SendingGate {
  readonly #port: MediaPort
  readonly #clock: Clock
  readonly #source: string
  readonly #proven = new Set<string>()
  #onFault: (error: Error) => void = () => {}
  #isConfirmed: boolean
  #isSending = false
  #far: { readonly near: NearEnd; readonly far: FarEnd } | undefined
  #watched: Watched | undefined
  /** End of the time for addresses that are not proven; undefined before the first one. */
  #trialEnds: number | undefined
  #timer: Timer | undefined
  #closed = false

  /** `source`: address that the stranger's signalling comes from. */
  constructor(port: MediaPort, source: string, { clock, isConfirmed }: StrangerMedia) {
    this.#port = port
    this.#source = keyOf(source)
    this.#clock = clock
    this.#isConfirmed = isConfirmed
  }

  /** The one listener for an address from which nothing came in time (`media_timeout`). */
  onFault(listener: (error: Error) => void): void {
    this.#onFault = listener
  }

  /** Tells the port of the far side, with the direction that is permitted now. Throws as `MediaPort.setFar` does. */
  setFar(near: NearEnd, far: FarEnd): void {
    const needsTrial = this.#isConfirmed && !this.#isProven(far)
    if (needsTrial) this.#trialEnds ??= this.#clock.now() + trialMs
    const isSending = this.#maySend(far)
    this.#port.setFar(near, this.#permitted(far, isSending))
    this.#far = { near, far }
    this.#isSending = isSending
    if (needsTrial) this.#watch(far.address)
    else this.#stopWatching()
  }

  /** The stranger has proved that it is at the source of its signalling. Idempotent. */
  confirm(): void {
    if (this.#isConfirmed) return
    this.#isConfirmed = true
    this.#tell()
  }

  /** Tells the port nothing more. Idempotent. */
  close(): void {
    this.#closed = true
    this.#stopWatching()
  }

  /** Tells the port of the same far side again. */
  #tell(): void {
    if (this.#far && !this.#closed) this.setFar(this.#far.near, this.#far.far)
  }

  /** RTCP goes nowhere else than audio: a third address would have no part in any proof. */
  #permitted({ rtcpAddress, ...far }: FarEnd, isSending: boolean): FarEnd {
    const isOwn = rtcpAddress !== undefined && keyOf(rtcpAddress) === this.#source
    return {
      ...far,
      ...(isOwn && { rtcpAddress }),
      direction: isSending ? far.direction : withoutSending[far.direction],
    }
  }

  #isProven({ address }: FarEnd): boolean {
    const plain = keyOf(address)
    return plain === this.#source || this.#proven.has(plain)
  }

  #maySend(far: FarEnd): boolean {
    if (!this.#isConfirmed || this.#isProven(far)) return this.#isConfirmed
    // A private address means something only near the caller: here it might be a host of our own network.
    return far.learnFrom === undefined && this.#clock.now() < (this.#trialEnds ?? 0)
  }

  #watch(address: string): void {
    if (this.#watched?.address === address) return
    this.#stopWatching()
    const watched: Watched = { address, since: this.#clock.now(), before: undefined }
    this.#watched = watched
    this.#read(watched)
  }

  #stopWatching(): void {
    this.#timer?.cancel()
    this.#watched = undefined
  }

  /** Reads the counters: the first ones are what later ones are compared with. */
  #read(watched: Watched): void {
    this.#port.stats().then(
      (stats) => {
        if (this.#watched !== watched) return
        if (watched.before) this.#look(watched, watched.before, stats)
        else watched.before = stats
        if (this.#watched !== watched) return
        const isTrial = this.#clock.now() < (this.#trialEnds ?? 0)
        this.#timer = this.#clock.after(isTrial ? lookMs : laterLookMs, () => this.#read(watched))
      },
      // The port is gone, and the call with it.
      () => this.#stopWatching(),
    )
  }

  #look({ address, since }: Watched, before: PortStats, { received, far: report }: PortStats): void {
    const far = this.#far?.far
    if (!far) return
    if (received > before.received || (report !== undefined && before.far === undefined)) {
      if (this.#proven.size < maxProven) this.#proven.add(keyOf(address))
      this.#tell()
    } else if (far.direction === 'sendrecv' && this.#clock.now() - since >= patienceMs) {
      this.close()
      this.#onFault(new TrunklineError('media_timeout', 'No audio came from the address in the SDP.'))
    } else if (this.#isSending && !this.#maySend(far)) this.#tell()
  }
}

/** The same for every spelling of an address. */
const keyOf = (address: string): string => wordsOf(address)?.join('.') ?? address

const withoutSending = {
  sendrecv: 'recvonly',
  recvonly: 'recvonly',
  sendonly: 'inactive',
  inactive: 'inactive',
} as const satisfies Record<FarEnd['direction'], FarEnd['direction']>
