/** `scripts/bench room-delay`: delays of pictures, without browsers. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createComposers } from '../../media/compose/composers.ts'
import { composerReason, loadPictures } from '../../media/compose/pictures.ts'
import { unitsPerMs } from '../../media/compose/vp8-packetizer.ts'
import { parseRtcp } from '../../media/rtp/rtcp.ts'
import { every, recording } from './bot-sources.ts'
import { joinDelays } from './join-delays.ts'
import { type Rectangle, whole } from './marks.ts'
import { FrameLog, type Shown, shownIn } from './picture-delays.ts'
import { RoomGateway } from './room-gateway.ts'
import { printCount, printFigure, quantile } from './rooms/figures.ts'
import { soundDelays } from './sound-delays.ts'

const room = 'lounge'
/** Time in ms until the code is compiled and the picture is the large one. */
const settleMs = 10_000

/** Returns the delays of a camera's picture at a viewer, through a gateway. */
const throughGateway = async (picture: 'auto' | 'speaker', seconds: number): Promise<Shown[]> => {
  const rig = await RoomGateway.start({ rooms: [room], picture, people: 2, members: 2 })
  try {
    const log = new FrameLog()
    const viewer = await rig.browser(0, room, {
      hasVideo: true,
      speaks: true,
      onVideo: (packet) => log.receive(packet),
    })
    await rig.browser(1, room, { hasVideo: true })
    await sleep(settleMs)
    const begun = performance.now()
    await sleep(seconds * 1000)
    const part = picture === 'auto' ? viewer.layers[0]! : whole
    const shown = shownIn(log, loadPictures(), rig.sources.sentAt, part)
    return shown.filter(({ sentAt }) => sentAt > begun)
  } finally {
    await rig.stop()
  }
}

const delaysOf = (shown: readonly Shown[]): number[] => shown.map(({ sentAt, frame }) => frame.at - sentAt)

/** Prints the stages of pictures in a composing process: cameras of `members`, each at its own phase. */
const composerAlone = async (members: number, seconds: number): Promise<void> => {
  const addon = loadPictures()
  const frames = recording()
  const composers = createComposers({ processes: 1 })
  const picture = await composers.open()
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const side = Math.ceil(Math.sqrt(members))
  const partOf = (at: number): Rectangle => ({
    x: ((at % side) * 100) / side,
    y: (Math.floor(at / side) * 100) / side,
    width: 100 / side,
    height: 100 / side,
  })
  const ids = Array.from({ length: members }, (_, at) => `m${at}`)
  const sentAt: number[][] = ids.map(() => [])
  const stops = await Promise.all(
    ids.map(async (id, at) => {
      const stream = { ssrc: 100 + at, payloadType: 96, from: socket.address() }
      const { port } = await picture.addSource(id, stream)
      await sleep((at * 33) / members)
      let sequence = 0
      const sent = sentAt[at]!
      return every(1000 / 30, () => {
        for (const packet of frames[sent.length % frames.length]!) {
          const copy = Buffer.from(packet)
          copy.writeUInt16BE(sequence++ & 0xffff, 2)
          copy.writeUInt32BE(sent.length * 3000, 4)
          copy.writeUInt32BE(stream.ssrc, 8)
          socket.send(copy, port, '127.0.0.1')
        }
        sent.push(performance.now())
      })
    }),
  )
  picture.enableLow(true)
  picture.draw(ids.map((memberId, at) => ({ memberId, ...partOf(at), z: 0, isVisible: true })))
  const log = new FrameLog()
  /** Time of the drawing minus media time, in ms. */
  let drawnOffset = 0
  picture.onPacket((rendition, packet, kind) => {
    if (rendition !== 'high') return
    if (kind === 'rtp') return log.receive(packet)
    for (const report of parseRtcp(packet) ?? [])
      if (report.kind === 'sender')
        drawnOffset = report.info.at - performance.timeOrigin - report.info.timestamp / unitsPerMs
  })
  picture.requestKeyFrame()
  await sleep(4000)
  const begun = performance.now()
  await sleep(seconds * 1000)
  for (const stop of stops) stop()
  socket.close()
  await composers.close()
  const shown = ids
    .flatMap((_, at) => shownIn(log, addon, sentAt[at]!, partOf(at)))
    .filter((each) => each.sentAt > begun)
  const drawnAt = ({ frame }: Shown) => frame.timestamp / unitsPerMs + drawnOffset
  const name = `Composer of ${members}`
  printFigure(`${name}: packets sent to the last packet of the picture`, delaysOf(shown))
  printFigure(
    '– sent to drawn: transport, decoding, wait for its turn',
    shown.map((each) => drawnAt(each) - each.sentAt),
  )
  printFigure(
    '– drawn to sent: drawing, encoding, pipe',
    shown.map((each) => each.frame.at - drawnAt(each)),
  )
  const times = log.frames.map(({ at }) => at).filter((at) => at > begun)
  printFigure(
    '– time between two frames',
    times.slice(1).map((at, i) => at - times[i]!),
  )
}

/** Measures the delay of pictures in a composing process alone, and through a gateway. */
export const roomDelay = async (seconds = 20): Promise<void> => {
  await soundDelays(seconds)
  for (const picture of ['speaker', 'auto'] as const) await joinDelays(picture, 20)
  const reason = composerReason()
  if (reason !== undefined) return console.log(`skipped: ${reason}`)
  for (const members of [2, 4, 9]) await composerAlone(members, seconds)
  const forwarded = delaysOf(await throughGateway('speaker', seconds))
  printFigure('Forwarded: camera to viewer', forwarded)
  const composed = await throughGateway('auto', seconds)
  const heights = [...new Set(composed.map(({ height }) => height))].join(', ')
  printFigure(`Composed: camera to viewer, height ${heights}`, delaysOf(composed))
  for (const share of [0.5, 0.95]) {
    const added = quantile(delaysOf(composed), share) - quantile(forwarded, share)
    printCount(`Added by the canvas, difference of the p${100 * share}`, added, 'ms', 100)
  }
}
