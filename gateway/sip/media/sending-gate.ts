import { addressWords } from '@trunkline/sip-agent/networks'
import type { FarEnd, MediaPort, NearEnd, PortStats } from '../../../media/types.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'

/** Facts of an untrusted caller: one that is neither known by its address nor authenticated. */
export interface UntrustedMedia {
  readonly clock: Clock
  /**
   * Whether the caller certainly receives messages at the source of its signalling, as it does on a
   * connection.
   */
  readonly isConfirmed: boolean
}

/**
 * Total time in ms for which audio is sent to unproven addresses: those other than the caller's from which no
 * packet has come.
 */
const trialMs = 2_000
/**
 * Intervals in ms at which the port's counters are read for packets of an unproven address: within the trial
 * time, and after it.
 */
const lookMs = 100
const laterLookMs = 500
/**
 * Time without a packet after which the call ends, in ms. The port's own timer stops while no audio is sent.
 */
const patienceMs = 30_000
/** Maximum number of addresses that are remembered as proven. */
const maxProven = 16

/** Unproven far end, from which packets are awaited. */
interface Watched {
  /** See {@link placeOf}. */
  readonly place: string
  readonly since: number
  /** Counters of the port when the wait started; undefined until they are known. */
  before: PortStats | undefined
}

/**
 * Holds back audio to an untrusted caller until it certainly reaches the party that asked for it. Otherwise
 * one forged INVITE makes the gateway send audio to any address that its SDP names. No audio is sent until
 * the caller has proved that it receives messages at the source of its signalling. From then on audio is sent
 * to that address. To other addresses audio is sent for two seconds in all, and longer only if packets or
 * RTCP reports come from them.
 */
export class SendingGate {
  readonly #port: MediaPort
  readonly #clock: Clock
  readonly #source: string
  readonly #proven = new Set<string>()
  /**
   * Proven far end whose packets may come from another address than the described one, as with a phone behind
   * NAT. Valid until another far end is set.
   */
  #learnt: string | undefined
  #onFault: (error: Error) => void = () => {}
  #isConfirmed: boolean
  #isSending = false
  #far: { readonly near: NearEnd; readonly far: FarEnd } | undefined
  #watched: Watched | undefined
  /** End of the trial time; undefined before the first unproven address. */
  #trialEnds: number | undefined
  #timer: Timer | undefined
  #isClosed = false

  /** `source`: source address of the caller's signalling. */
  constructor(port: MediaPort, source: string, { clock, isConfirmed }: UntrustedMedia) {
    this.#port = port
    this.#source = keyOf(source)
    this.#clock = clock
    this.#isConfirmed = isConfirmed
  }

  /** Sets the one listener for an unproven address from which no packet came in time (`media_timeout`). */
  onFault(listener: (error: Error) => void): void {
    this.#onFault = listener
  }

  /**
   * Sets the far end of the port, with the direction that is permitted now. Throws as `MediaPort.setFar`
   * does.
   */
  setFar(near: NearEnd, far: FarEnd): void {
    if (placeOf(far) !== this.#learnt) this.#learnt = undefined
    const needsTrial = this.#isConfirmed && !this.#isProven(far)
    if (needsTrial) this.#trialEnds ??= this.#clock.now() + trialMs
    const isSending = this.#maySend(far)
    this.#port.setFar(near, this.#permitted(far, isSending))
    this.#far = { near, far }
    this.#isSending = isSending
    if (needsTrial) this.#watch(placeOf(far))
    else this.#stopWatching()
  }

  /** Records that the caller receives messages at the source of its signalling. Idempotent. */
  confirm(): void {
    if (this.#isConfirmed) return
    this.#isConfirmed = true
    this.#apply()
  }

  /** Stops all changes of the port. Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#stopWatching()
  }

  /** Sets the same far end again. */
  #apply(): void {
    if (this.#far && !this.#isClosed) this.setFar(this.#far.near, this.#far.far)
  }

  /**
   * Returns the far end with the permitted direction. RTCP is sent only to the address from which the caller
   * signals, or to the address of the audio, because no other address is proven.
   */
  #permitted({ rtcpAddress, ...far }: FarEnd, isSending: boolean): FarEnd {
    const isOwn = rtcpAddress !== undefined && keyOf(rtcpAddress) === this.#source
    return {
      ...far,
      ...(isOwn && { rtcpAddress }),
      direction: isSending ? far.direction : withoutSending[far.direction],
    }
  }

  #isProven(far: FarEnd): boolean {
    const place = placeOf(far)
    return keyOf(far.address) === this.#source || this.#learnt === place || this.#proven.has(place)
  }

  #maySend(far: FarEnd): boolean {
    if (!this.#isConfirmed || this.#isProven(far)) return this.#isConfirmed
    // Nothing is sent to a private address, which could be a host of the gateway's own network.
    return far.learnFrom === undefined && this.#clock.now() < (this.#trialEnds ?? 0)
  }

  #watch(place: string): void {
    if (this.#watched?.place === place) return
    this.#stopWatching()
    const watched: Watched = { place, since: this.#clock.now(), before: undefined }
    this.#watched = watched
    this.#read(watched)
  }

  #stopWatching(): void {
    this.#timer?.cancel()
    this.#watched = undefined
  }

  /** Reads the counters; the first reading is the reference for later ones. */
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
      // The port is closed, and the call has ended.
      () => this.#stopWatching(),
    )
  }

  #look({ place, since }: Watched, before: PortStats, { received, far: report }: PortStats): void {
    const far = this.#far?.far
    if (!far) return
    if (received > before.received || (report !== undefined && before.far === undefined)) {
      if (isLearning(far)) this.#learnt = place
      else if (this.#proven.size < maxProven) this.#proven.add(place)
      this.#apply()
    } else if (far.direction === 'sendrecv' && this.#clock.now() - since >= patienceMs) {
      this.close()
      this.#onFault(new TrunklineError('media_timeout', 'No audio came from the address in the SDP.'))
    } else if (this.#isSending && !this.#maySend(far)) this.#apply()
  }
}

/** Whether packets of the far end may come from another address than its description has. */
const isLearning = ({ learnFrom, symmetric = 'strict' }: FarEnd): boolean =>
  learnFrom !== undefined || symmetric !== 'strict'

/**
 * Returns the key of the destination that received packets prove. If packets are accepted from the described
 * address only, the key is that address. Otherwise packets may come from the caller itself, and prove nothing
 * about the described address. For each new port the media edge sends to that address again, so the key
 * includes the port.
 */
const placeOf = (far: FarEnd): string =>
  isLearning(far) ? `${keyOf(far.address)} ${far.port}` : keyOf(far.address)

/** Returns a key that is the same for every notation of an address. */
const keyOf = (address: string): string => addressWords(address)?.join('.') ?? address

const withoutSending = {
  sendrecv: 'recvonly',
  recvonly: 'recvonly',
  sendonly: 'inactive',
  inactive: 'inactive',
} as const satisfies Record<FarEnd['direction'], FarEnd['direction']>
