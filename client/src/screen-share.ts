import type { Timer } from './clock.ts'
import { Emitter } from './emitter.ts'
import type { Environment } from './environment.ts'
import { ClientError, refusalOf } from './errors.ts'
import { type Json, text } from './frames.ts'
import type { Log } from './log.ts'
import type { ScreenShareOptions } from './media-types.ts'
import { Peer, type PeerServers } from './peer.ts'
import { Recovery } from './recovery.ts'
import { stopTracks } from './stop-tracks.ts'
import { type CallSignalling, dialogParams, endOfBye, type VertoPeer } from './verto.ts'

/** `trying`: not yet shown by the gateway. `active`: shown. `ended`: final state. */
export type ScreenShareState = 'trying' | 'active' | 'ended'

/** Events of a {@link ScreenShare}. */
export interface ScreenShareEvents {
  readonly state: { readonly state: ScreenShareState; readonly previous: ScreenShareState }
  /**
   * The share has ended and the screen is released.
   * The reason is `normal` if it ended here, by {@link ScreenShare.leave} or the browser's own control.
   */
  readonly destroy: { readonly reason: ClientError }
}

/** Arguments of a {@link ScreenShare}. */
export interface ScreenShareSetup {
  readonly id: string
  /** Call that the share belongs to. */
  readonly call: { readonly id: string; readonly to: string; readonly memberId: string | undefined }
  readonly nodeId: string | undefined
  readonly disableUdp: boolean | undefined
  readonly userVariables: ScreenShareOptions['userVariables']
  /** Screen that the user chooses in the browser's own dialog. */
  readonly chosen: Promise<MediaStream>
  readonly signalling: CallSignalling
  readonly environment: Environment
  readonly log: Log
  /** Called when the share ends. */
  readonly gone: () => void
}

// The gateway answers at once, without a user.
const answerMs = 15_000

/** Returns the error for a choice that failed. */
const screenError = (error: unknown): ClientError => {
  if (error instanceof ClientError) return error
  const refused = error instanceof Error && error.name === 'NotAllowedError'
  return refused
    ? new ClientError('screen_refused', 'No screen was chosen, or the browser does not allow it.', {
        cause: error,
      })
    : new ClientError('screen_failed', 'The screen could not be shared.', { cause: error })
}

/**
 * Screen, window or tab that is shown to the other members in place of the camera. Created by {@link
 * Call.startScreenShare}.
 */
export class ScreenShare implements VertoPeer {
  readonly id: string
  readonly #setup: ScreenShareSetup
  readonly #events: Emitter<ScreenShareEvents>
  readonly #recovery: Recovery
  readonly #started = Promise.withResolvers<void>()
  /** Rejects at the end. */
  readonly #over = Promise.withResolvers<never>()
  #stream: MediaStream | undefined
  #peer: Peer | undefined
  #state: ScreenShareState = 'trying'
  #nodeId: string | undefined
  #sent = false
  #isAccepted = false

  constructor(setup: ScreenShareSetup) {
    this.id = setup.id
    this.#setup = setup
    this.#nodeId = setup.nodeId
    this.#over.promise.catch(() => {})
    this.#events = new Emitter((error) => setup.log.error('event listener of a shared screen failed', error))
    this.#recovery = new Recovery(setup.environment.clock, {
      path: () => this.#peer?.state ?? 'new',
      isConnected: () => setup.signalling.isConnected,
      restart: () => this.#restart(),
      seeking: () => setup.log.warn('media path of a shared screen failed; negotiating a new one'),
      found: () => {},
      givenUp: (cause) =>
        this.#fail(new ClientError('media_lost', 'The screen cannot be sent any more.', { cause })),
    })
  }

  get state(): ScreenShareState {
    return this.#state
  }

  /** Whether the other members can see the screen. */
  get active(): boolean {
    return this.#state === 'active'
  }

  /** Stream of the shared screen, for a preview; undefined until the user has chosen. */
  get localStream(): MediaStream | undefined {
    return this.#stream
  }

  on<Name extends keyof ScreenShareEvents>(
    name: Name,
    listener: (payload: ScreenShareEvents[Name]) => void,
  ): void {
    this.#events.on(name, listener)
  }

  off<Name extends keyof ScreenShareEvents>(
    name: Name,
    listener?: (payload: ScreenShareEvents[Name]) => void,
  ): void {
    this.#events.off(name, listener)
  }

  /**
   * Stops sharing: the others see the camera again, if it is on. Resolves when the gateway has acknowledged.
   * Idempotent.
   */
  leave(): Promise<void> {
    return this.#leave(new ClientError('normal', 'The screen is not shared any more.'))
  }

  /** Same as {@link leave}. */
  hangup(): Promise<void> {
    return this.leave()
  }

  /**
   * For the call only: shares what the user chooses. On failure it releases everything and rejects with the
   * reason.
   */
  async start(): Promise<void> {
    const { signalling, environment } = this.#setup
    let limit: Timer | undefined
    try {
      const stream = await this.#capture()
      this.#require()
      const offer = await this.#offer(stream)
      this.#require()
      signalling.add(this)
      this.#sent = true
      const late = new ClientError('timeout', 'The gateway did not take the screen in time.')
      limit = environment.clock.after(answerMs, () => this.#fail(late))
      const reply = await Promise.race([this.#verto('verto.invite', { sdp: offer }), this.#over.promise])
      this.#nodeId = text(reply.node_id) ?? this.#nodeId
      await Promise.race([this.#started.promise, this.#over.promise])
    } catch (error) {
      if (error instanceof ClientError && error.code === 'server') this.#sent = false
      this.#fail(refusalOf(error))
      throw error
    } finally {
      limit?.cancel()
    }
  }

  /** For the client only. */
  receive(method: string, params: Json, nodeId: string | undefined): void {
    if (this.#state === 'ended') return
    if (nodeId) this.#nodeId = nodeId
    if (method === 'verto.media' || method === 'verto.answer') void this.#take(text(params.sdp))
    else if (method === 'verto.bye') {
      this.#sent = false
      this.#end(endOfBye(params))
    } else if (method === 'verto.ping') this.#inform(this.#verto('verto.pong', params))
    else if (method === 'verto.renew') this.#recovery.pathLost()
  }

  /** Handles the return (`up`) or loss of the connection to the gateway. For the client only. */
  connectionChanged(up: boolean): void {
    this.#recovery.connectionChanged(up)
  }

  /** For the client only. */
  networkChanged(): void {
    this.#recovery.pathLost()
  }

  /** For the client only: ends the share without informing the gateway. */
  drop(reason: ClientError): void {
    this.#sent = false
    this.#end(reason)
  }

  async #capture(): Promise<MediaStream> {
    const chosen = this.#setup.chosen.then((stream) => {
      this.#stream = stream
      if (this.#state === 'ended') stopTracks(stream)
      return stream
    })
    // The browser's chooser may stay open for any time.
    const stream = await Promise.race([chosen, this.#over.promise]).catch((error: unknown) => {
      this.#require()
      throw screenError(error)
    })
    // The track ends through the browser's own control, or when the shared window is closed.
    for (const track of stream.getVideoTracks()) track.addEventListener('ended', () => void this.leave())
    return stream
  }

  async #offer(stream: MediaStream): Promise<string> {
    const peer = new Peer(this.#setup.environment, this.#servers, {
      track: () => {},
      stateChanged: () => this.#recovery.pathChanged(),
    })
    this.#peer = peer
    const tracks = [...stream.getAudioTracks(), ...stream.getVideoTracks()]
    const changes = tracks.map((track) => ({
      kind: track.kind === 'audio' ? ('audio' as const) : ('video' as const),
      track,
      direction: 'sendonly' as const,
    }))
    return peer.offer(changes, stream)
  }

  get #servers(): PeerServers {
    const { signalling, disableUdp } = this.#setup
    return { iceServers: signalling.iceServers, disableUdp }
  }

  #require(): void {
    if (this.#state === 'ended') throw new ClientError('canceled', 'The screen is not to be shared any more.')
  }

  async #take(sdp: string | undefined): Promise<void> {
    try {
      if (sdp !== undefined) {
        await this.#peer?.accept(sdp)
        this.#isAccepted = true
      }
      if (!this.#isAccepted || this.#state !== 'trying') return
      this.#become('active')
      this.#started.resolve()
    } catch (cause) {
      this.#fail(
        new ClientError('media_lost', "The gateway's session description cannot be used.", { cause }),
      )
    }
  }

  async #restart(): Promise<void> {
    await this.#peer?.renegotiate({ restart: this.#servers }, async (sdp) => {
      const reply = await this.#verto('verto.modify', { sdp, action: 'updateMedia' })
      return text(reply.sdp) ?? ''
    })
  }

  #verto(method: string, params: Json): Promise<Json> {
    const { call, signalling } = this.#setup
    const { id: memberCallId, memberId } = call
    const userVariables = { ...this.#setup.userVariables, memberCallId, memberId }
    const dialog = { callID: this.id, to: call.to, userVariables, screenShare: true }
    const message = { dialogParams: dialogParams(dialog), ...params }
    return signalling.verto(method, message, { id: this.id, nodeId: this.#nodeId })
  }

  async #leave(reason: ClientError): Promise<void> {
    if (this.#state === 'ended') return
    const sent = this.#sent
    this.#sent = false
    this.#end(reason)
    if (sent) await this.#verto('verto.bye', {}).catch((error: unknown) => this.#failed(error))
  }

  #fail(reason: ClientError): void {
    this.#inform(this.#leave(reason))
  }

  #inform(sent: Promise<unknown>): void {
    sent.catch((error: unknown) => this.#failed(error))
  }

  #failed(error: unknown): void {
    this.#setup.log.debug('message about a screen rejected', error)
  }

  #become(state: ScreenShareState): void {
    const previous = this.#state
    this.#state = state
    this.#events.emit('state', { state, previous })
  }

  #end(reason: ClientError): void {
    if (this.#state === 'ended') return
    this.#recovery.close()
    this.#peer?.close()
    stopTracks(this.#stream)
    this.#setup.signalling.gone(this.id)
    this.#setup.gone()
    this.#become('ended')
    this.#over.reject(reason)
    this.#events.emit('destroy', { reason })
    this.#events.clear()
  }
}
