import type { types } from 'mediasoup'
import { WebRtcError } from './errors.ts'
import type { Credentials, Fingerprint, Setup } from './sdp/session-description.ts'
import { SenderReports } from './sender-reports.ts'
import type { MediaWorker } from './worker-supervisor.ts'

/** State of an m-line's transport. `crashed`: the mediasoup process died. */
export type MLineState = 'connecting' | 'connected' | 'disconnected' | 'failed' | 'closed' | 'crashed'

/** Options of {@link MLine.open}. */
export interface MLineOptions {
  /** Estimate of the outgoing bit rate until the first feedback, in bit/s; default 600,000. */
  readonly firstRate?: number
  /** Reports of the browser's session; default those of this m-line alone. */
  readonly reports?: SenderReports
}

/** One m-line with its transport: ICE-lite, DTLS, SRTP. */
export class MLine {
  readonly worker: MediaWorker
  readonly router: types.Router
  readonly transport: types.WebRtcTransport
  /** Reports of the browser, also on its other m-lines. */
  readonly reports: SenderReports
  readonly #onState: () => void
  #remote: Credentials | undefined
  #setup: 'active' | 'passive' = 'passive'
  #isLost = false

  private constructor(
    { worker, router, reports }: Pick<MLine, 'worker' | 'router' | 'reports'>,
    transport: types.WebRtcTransport,
    onState: () => void,
  ) {
    this.worker = worker
    this.router = router
    this.reports = reports
    this.transport = transport
    this.#onState = onState
    transport.on('icestatechange', onState)
    transport.on('dtlsstatechange', onState)
  }

  /**
   * Opens a transport in a router of the worker; `onState` is called for every change. Rejects if the worker
   * fails.
   */
  static async open(
    worker: MediaWorker,
    router: types.Router,
    onState: () => void,
    { firstRate = 600_000, reports = new SenderReports() }: MLineOptions = {},
  ): Promise<MLine> {
    const transport = await router.createWebRtcTransport({
      webRtcServer: worker.server,
      enableUdp: true,
      enableTcp: true,
      preferUdp: true,
      initialAvailableOutgoingBitrate: firstRate,
    })
    worker.transports.add(transport)
    transport.observer.once('close', () => worker.transports.delete(transport))
    return new MLine({ worker, router, reports }, transport, onState)
  }

  /**
   * Combined state of ICE and DTLS. After the browser has closed DTLS, the state is `disconnected`, because a
   * new offer may restore it.
   */
  get state(): MLineState {
    const { iceState, dtlsState, closed } = this.transport
    if (this.#isLost) return 'crashed'
    if (dtlsState === 'failed') return 'failed'
    if (closed) return 'closed'
    if (iceState === 'disconnected' || dtlsState === 'closed') return 'disconnected'
    const ice = iceState === 'connected' || iceState === 'completed'
    return ice && dtlsState === 'connected' ? 'connected' : 'connecting'
  }

  /** Local `a=setup` once connected (RFC 5763 section 5). */
  get setup(): 'active' | 'passive' {
    return this.#setup
  }

  /** Local ICE user name fragment and password. */
  get ice(): { readonly ufrag: string; readonly password: string } {
    const { usernameFragment, password } = this.transport.iceParameters
    return { ufrag: usernameFragment, password }
  }

  /** Fingerprint of the local certificate. */
  get fingerprint(): Fingerprint {
    const found = this.transport.dtlsParameters.fingerprints.find((f) => f.algorithm === 'sha-256')
    if (!found) throw new Error('mediasoup gave no sha-256 fingerprint')
    return { algorithm: 'sha-256', value: found.value.toUpperCase() }
  }

  /**
   * Whether the browser's certificate has changed: DTLS restarts, which needs a new transport (RFC 8842
   * section 4).
   */
  hasOtherCertificate(credentials: Credentials): boolean {
    const known = this.#remote?.fingerprint
    if (!known) return false
    return (
      known.algorithm !== credentials.fingerprint.algorithm || known.value !== credentials.fingerprint.value
    )
  }

  /**
   * Applies the browser's credentials: connects the first time, restarts ICE when they change (RFC 8839
   * section 4.4.1.1.1).
   */
  async applyCredentials(credentials: Credentials): Promise<void> {
    const before = this.#remote
    this.#remote = credentials
    if (!before) return this.#connect(credentials)
    const restarted = before.ufrag !== credentials.ufrag || before.password !== credentials.password
    if (restarted) await this.transport.restartIce()
  }

  /** Marks the transport as lost after the death of the worker. */
  lost(): void {
    this.#isLost = true
    this.#onState()
  }

  /** Closes the transport. Idempotent. */
  close(): void {
    this.transport.close()
  }

  async #connect(credentials: Credentials): Promise<void> {
    this.#setup = setupFor(credentials.setup)
    const { algorithm, value } = credentials.fingerprint
    await this.transport.connect({
      dtlsParameters: {
        role: this.#setup === 'passive' ? 'client' : 'server',
        fingerprints: [{ algorithm, value }],
      },
    })
    if (this.transport.closed) throw new WebRtcError('closed', 'the transport was closed while it connected')
  }
}

// If the browser leaves the choice, it becomes the DTLS client, because it sends its first packet as soon as
// ICE has found the path.
const setupFor = (browser: Setup): 'active' | 'passive' => (browser === 'passive' ? 'active' : 'passive')
