/** `scripts/bench room-delay`: delays of pictures, without browsers. */
import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../../gateway/agent-test/scores/quantile.ts'
import { composerReason, loadPictures } from '../../media/compose/pictures.ts'
import { composerDelays } from './composer-delays.ts'
import { joinDelays } from './join-delays.ts'
import { whole } from './marks.ts'
import { FrameLog, type Shown, shownIn } from './picture-delays.ts'
import { RoomGateway } from './room-gateway.ts'
import { printCount, printFigure } from './rooms/figures.ts'
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

/** Measures the delay of pictures in a composing process alone, and through a gateway. */
export const roomDelay = async (seconds = 20): Promise<void> => {
  const reason = composerReason()
  if (reason !== undefined) return console.log(`skipped: ${reason}`)
  await soundDelays(seconds)
  for (const picture of ['speaker', 'auto'] as const) await joinDelays(picture, 20)
  for (const members of [2, 4, 9]) await composerDelays(members, seconds)
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
