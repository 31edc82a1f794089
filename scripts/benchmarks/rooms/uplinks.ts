import type { SdkPage } from '../../../test/support/sdk-page.ts'
import { printCount, printFigure } from './figures.ts'
import { onStage, passes } from './stage.ts'

/** Members of the room. */
const members = 9

/** Bytes of video that a page has sent, with its width in pixels. */
interface Sent {
  readonly bytes: number
  readonly width: number
}

const sentBy = async ({ page }: SdkPage): Promise<Sent> =>
  page.evaluate(`(async () => {
    const all = await Promise.all(testPeers.map((peer) => peer.getStats()))
    const rows = all.flatMap((stats) => [...stats.values()])
    const video = rows.filter(({ type, kind }) => type === 'outbound-rtp' && kind === 'video')
    return {
      bytes: video.reduce((sum, { bytesSent, headerBytesSent }) => sum + bytesSent + headerBytesSent, 0),
      width: Math.max(...video.map(({ frameWidth }) => frameWidth ?? 0)),
    }
  })()`)

/**
 * Measures what nine pages send into a composed room, by their statistics: goal G11. Their pictures are noise
 * at 8 frames per second, which takes all bits that an encoder may use.
 */
export const uplinks = (seconds = 20): Promise<void> =>
  onStage({}, async (stage) => {
    const pages: SdkPage[] = []
    for (let i = 0; i < members; i++) {
      pages.push(await stage.member(`member${i}`, { colour: 'red', rate: 8, isBusy: true }))
    }
    // A camera shrinks 10 s after its rectangle.
    await passes(15_000)
    const before = await Promise.all(pages.map(sentBy))
    const begun = performance.now()
    await passes(seconds * 1000)
    const after = await Promise.all(pages.map(sentBy))
    const elapsed = performance.now() - begun
    const rates = after.map(({ bytes }, i) => ((bytes - before[i]!.bytes) * 8) / elapsed)
    printFigure('Video sent by each of 9 members', rates, {}, 'kbit/s')
    printFigure(
      'Width of their cameras',
      after.map(({ width }) => width),
      {},
      'pixels',
    )
    printCount(
      'Video sent by all',
      rates.reduce((sum, rate) => sum + rate, 0),
      'kbit/s',
      members * 600,
    )
  })
