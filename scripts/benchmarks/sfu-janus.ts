/** Janus VideoRoom as a contender of `scripts/bench sfu`. Its peers are transports of the load. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { dirname } from 'node:path'
import type { types } from 'mediasoup'
import { freePort } from '../../media/testing/free-ports.ts'
import { ownVideo } from '../../media/webrtc/sdp/video-format.ts'
import { until } from '../../test/support/until.ts'
import { temporary } from './programs.ts'
import { Camera, type Load } from './sfu-load.ts'

const room = 1
/** SSRC that Janus expects of the first stream of another Janus. */
const firstSsrc = 1000
const plugins = '/usr/lib/x86_64-linux-gnu/janus/plugins'
const transports = '/usr/lib/x86_64-linux-gnu/janus/transports'

/** Whether Janus is installed, as Debian packages it. */
export const hasJanus = (): boolean => spawnSync('janus', ['--version']).error === undefined

/** Returns an address of this machine other than 127.0.0.1, which ICE of Janus does not use. */
const ownAddress = (): string =>
  Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1'

/** Returns the files of a folder except one. */
const othersOf = (folder: string, wanted: string): string =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.so') && name !== wanted)
    .join(',')

/** Writes the configuration. Returns its folder. */
const configure = (port: number): string => {
  const file = temporary('janus.jcfg')
  const folder = dirname(file)
  writeFileSync(
    file,
    `general: { configs_folder = "${folder}" plugins_folder = "${plugins}" ` +
      `transports_folder = "${transports}" debug_level = 0 }\n` +
      `nat: { ice_enforce_list = "${ownAddress()}" }\n` +
      `plugins: { disable = "${othersOf(plugins, 'libjanus_videoroom.so')}" }\n` +
      `transports: { disable = "${othersOf(transports, 'libjanus_websockets.so')}" }\n`,
  )
  writeFileSync(
    temporary('janus.transport.websockets.jcfg'),
    `general: { ws = true ws_port = ${port} ws_ip = "127.0.0.1" wss = false }\n`,
  )
  writeFileSync(temporary('janus.plugin.videoroom.jcfg'), '')
  return folder
}

/** Message of Janus, as far as it is read here. */
interface Message {
  readonly janus: string
  /** Handle of an event. */
  readonly sender?: number
  readonly transaction?: string
  readonly data?: { readonly id: number }
  readonly error?: { readonly reason: string }
  readonly plugindata?: { readonly data: Readonly<Record<string, unknown>> }
  readonly jsep?: { readonly sdp: string }
}

const attributeOf = (sdp: string, name: string): string =>
  new RegExp(`^a=${name}:(.*?)\\r?$`, 'm').exec(sdp)?.[1] ?? ''

/** Returns the answer of a viewer with a video line for each mid. */
const describe = (
  { iceParameters, iceCandidates, dtlsParameters }: types.WebRtcTransport,
  mids: readonly string[],
): string => {
  const { ip, port } = iceCandidates[0]!
  const { value } = dtlsParameters.fingerprints.find(({ algorithm }) => algorithm === 'sha-256')!
  const { payloadType } = ownVideo
  const media = mids.flatMap((mid) => [
    `m=video 9 UDP/TLS/RTP/SAVPF ${payloadType}`,
    'c=IN IP4 127.0.0.1',
    `a=mid:${mid}`,
    'a=rtcp-mux',
    `a=ice-ufrag:${iceParameters.usernameFragment}`,
    `a=ice-pwd:${iceParameters.password}`,
    `a=fingerprint:sha-256 ${value}`,
    'a=setup:passive',
    `a=rtpmap:${payloadType} VP8/90000`,
    ...(ownVideo.feedback ?? []).map((each) => `a=rtcp-fb:${payloadType} ${each}`),
    'a=recvonly',
    `a=candidate:1 1 udp 2130706431 ${ip} ${port} typ host`,
    'a=end-of-candidates',
  ])
  const bundle = `a=group:BUNDLE ${mids.join(' ')}`
  const head = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0', bundle, 'a=ice-lite']
  return `${[...head, ...media].join('\r\n')}\r\n`
}

/** Connects a peer; Janus is the client of DTLS. */
const connect = (peer: types.WebRtcTransport, sdp: string): Promise<void> =>
  peer.connect({
    dtlsParameters: {
      role: 'client',
      fingerprints: [{ algorithm: 'sha-256', value: attributeOf(sdp, 'fingerprint').split(' ')[1] ?? '' }],
    },
  })

/** Janus in a process of its own, with one room. */
export class Janus {
  readonly #process: ChildProcess
  readonly #socket: WebSocket
  readonly #waiting = new Map<string, PromiseWithResolvers<Message>>()
  /** Handles whose peer is connected. */
  readonly #connected = new Set<number>()
  #session = 0

  private constructor(process: ChildProcess, socket: WebSocket) {
    this.#process = process
    this.#socket = socket
    globalThis.process.on('exit', () => process.kill('SIGKILL'))
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(data)))
  }

  static async start(publishers: number): Promise<Janus> {
    const port = await freePort()
    const child = spawn('janus', ['-F', configure(port)], { stdio: 'ignore' })
    const socket = await until('Janus accepts connections', () => open(port), Boolean, 10_000)
    const janus = new Janus(child, socket!)
    janus.#session = (await janus.#ask({ janus: 'create' })).data!.id
    await janus.#talk(await janus.#attach(), {
      request: 'create',
      room,
      publishers,
      bitrate: 0,
      videocodec: 'vp8',
      notify_joining: false,
    })
    return janus
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  /** Opens a camera, whose RTP Janus receives as that of another Janus. */
  async openCamera(load: Load, id: number): Promise<Camera> {
    const { plugindata } = await this.#talk(await this.#attach(), {
      request: 'add_remote_publisher',
      room,
      id,
      iface: '127.0.0.1',
      streams: [{ type: 'video', mid: '0', mindex: 0, codec: 'vp8' }],
    })
    return new Camera(load.socket, Number(plugindata?.data.port), firstSsrc)
  }

  /** Opens a viewer of these cameras. */
  async subscribe(load: Load, feeds: readonly number[]): Promise<void> {
    const handle = await this.#attach()
    const streams = feeds.map((feed) => ({ feed }))
    // A camera appears in the room some time after its answer.
    const join = () =>
      this.#talk(handle, { request: 'join', ptype: 'subscriber', room, streams }).catch(() => undefined)
    const offer = (await until('Janus has all cameras', join, Boolean, 5_000))!.jsep!
    const peer = await load.openPeer(ownAddress())
    const mids = [...offer.sdp.matchAll(/^a=mid:(\S+)/gm)].map(([, mid = '']) => mid)
    const jsep = { type: 'answer', sdp: describe(peer, mids) }
    await connect(peer, offer.sdp)
    await this.#talk(handle, { request: 'start' }, jsep)
    await this.#isConnected(handle)
  }

  async stop(): Promise<void> {
    this.#socket.close()
    const gone = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await gone
  }

  async #attach(): Promise<number> {
    const answer = await this.#ask({ janus: 'attach', plugin: 'janus.plugin.videoroom' })
    return answer.data!.id
  }

  async #isConnected(handle: number): Promise<void> {
    await until('Janus has a connection', () => this.#connected.has(handle), Boolean, 5_000)
  }

  #talk(handle: number, body: object, jsep?: object): Promise<Message> {
    return this.#ask({ janus: 'message', handle_id: handle, body, ...(jsep && { jsep }) })
  }

  #ask(message: object): Promise<Message> {
    const transaction = String(this.#waiting.size + 1)
    const waiting = Promise.withResolvers<Message>()
    this.#waiting.set(transaction, waiting)
    const session = this.#session > 0 && { session_id: this.#session }
    this.#socket.send(JSON.stringify({ ...message, ...session, transaction }))
    return waiting.promise
  }

  #receive(message: Message): void {
    // The answer to an asynchronous request is an event that follows.
    if (message.janus === 'ack') return
    if (message.janus === 'webrtcup') this.#connected.add(message.sender ?? 0)
    const reason = message.error?.reason ?? message.plugindata?.data.error
    const waiting = this.#waiting.get(message.transaction ?? '')
    if (reason !== undefined) waiting?.reject(new Error(`Janus: ${reason}`))
    else waiting?.resolve(message)
  }
}

/** Returns a connection, or undefined if Janus does not accept it yet. */
const open = (port: number): Promise<WebSocket | undefined> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, 'janus-protocol')
    socket.addEventListener('open', () => resolve(socket))
    socket.addEventListener('error', () => resolve(undefined))
  })
