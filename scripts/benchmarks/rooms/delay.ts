import { quantile } from '../../../gateway/agent-test/scores/quantile.ts'
import { composerReason } from '../../../media/compose/pictures.ts'
import type { SdkPage } from '../../../test/support/sdk-page.ts'
import { until } from '../../../test/support/until.ts'
import { printCount, printFigure } from './figures.ts'
import { framesOf, listen, say, soundsOf, watch, whole } from './person.ts'
import { memberIdOf, onStage, passes, rectangleOf } from './stage.ts'

/** Delays of pictures and sounds, and their differences. Times in ms. */
interface Delays {
  readonly pictures: readonly number[]
  readonly sounds: readonly number[]
  /** Delay of a sound without that of the frames around it: positive if the picture is early. */
  readonly skews: readonly number[]
}

/** Height of the picture that a page receives. */
const heightOf = ({ page }: SdkPage): Promise<number> =>
  page.evaluate(`document.querySelector('.mcuContent video').videoHeight`)

/** Lets a member give a tone each second, and measures it at a viewer. */
const measure = async (viewer: SdkPage, member: SdkPage, seconds: number): Promise<Delays> => {
  const given: number[] = []
  const begun = Date.now()
  for (let i = 0; i < seconds; i++) {
    given.push(await say(member.page, 'tone', 60))
    await passes(begun + (i + 1) * 1000 - Date.now())
  }
  const frames = (await framesOf(viewer.page)).filter(({ at }) => at > begun)
  const readable = frames.filter(({ delay }) => delay !== undefined)
  const sounds: number[] = []
  const skews: number[] = []
  for (const heard of (await soundsOf(viewer.page)).filter((at) => at > given[0]!)) {
    const delay = heard - given.findLast((at) => at <= heard)!
    const near = readable.filter(({ at }) => Math.abs(at - heard) < 250).map((frame) => frame.delay!)
    sounds.push(delay)
    if (near.length > 0) skews.push(delay - quantile(near, 0.5))
  }
  if (readable.length < frames.length * 0.9)
    console.log(`${frames.length - readable.length} of ${frames.length} frames without a readable clock`)
  return { pictures: readable.map(({ delay }) => delay!), sounds, skews }
}

const delaysOf = async (picture: 'auto' | 'speaker', seconds: number): Promise<Delays> => {
  let delays: Delays | undefined
  await onStage({ media: { rooms: { picture } } }, async (stage) => {
    const viewer = await stage.member('ann', { colour: 'red' })
    const member = await stage.member('ben', { colour: 'lime' })
    const isComposed = picture === 'auto'
    // Each viewer begins with the small picture.
    if (isComposed)
      await until(
        'the large picture',
        () => heightOf(viewer),
        (height) => height === 720,
      )
    await passes(2000)
    await watch(viewer.page, isComposed ? rectangleOf(viewer, memberIdOf(member)) : whole)
    await listen(viewer.page)
    delays = await measure(viewer, member, seconds)
  })
  return delays!
}

/** Measures the delay of pictures and sounds from page to page, composed and forwarded: goal G5. */
export const delay = async (seconds = 30): Promise<void> => {
  const forwarded = await delaysOf('speaker', seconds)
  printFigure('Speaker: delay of the picture', forwarded.pictures)
  printFigure('Speaker: delay of the sound', forwarded.sounds)
  printFigure('Speaker: sound after the picture', forwarded.skews)
  const reason = composerReason()
  if (reason !== undefined) return console.log(`composed: skipped: ${reason}`)
  const composed = await delaysOf('auto', seconds)
  printFigure('Composed: delay of the picture', composed.pictures)
  printFigure('Composed: delay of the sound', composed.sounds)
  printFigure('Composed: sound after the picture', composed.skews)
  const absolute = composed.skews.map(Math.abs)
  printFigure('Composed: sound and picture apart', absolute, { p95: 60 })
  for (const share of [0.5, 0.95]) {
    const added = quantile(composed.pictures, share) - quantile(forwarded.pictures, share)
    printCount(`Added by the canvas, difference of the p${100 * share}`, added, 'ms', 100)
  }
}
