import type { Colour } from '../../../test/support/page-video.ts'
import type { SdkPage } from '../../../test/support/sdk-page.ts'
import { printCount, printFigure } from './figures.ts'
import { framesOf, type SeenFrame, say, watch } from './person.ts'
import { onStage, passes } from './stage.ts'

/** A member who speaks, with the colour of its camera. */
interface Speaker {
  readonly page: SdkPage
  readonly colour: Colour
}

/** Times at which the colour of the picture changed. */
const changesOf = (frames: readonly SeenFrame[]): number[] => {
  const known = frames.filter(({ colour }) => colour !== '')
  return known.filter(({ colour }, i) => i > 0 && colour !== known[i - 1]!.colour).map(({ at }) => at)
}

/** Measures turns of two speakers, who pause in between. */
const turns = async (viewer: SdkPage, speakers: readonly Speaker[], rounds: number): Promise<void> => {
  const delays: number[] = []
  const freezes: number[] = []
  for (let i = 0; i < rounds; i++) {
    await passes(1000 + 1500 * Math.random())
    const { page, colour } = speakers[i % speakers.length]!
    const first = await say(page.page, 'voice', 2500)
    await passes(2500)
    const frames = (await framesOf(viewer.page)).filter(({ at }) => at > first - 200)
    const shown = frames.findIndex((frame) => frame.colour === colour)
    if (shown <= 0) {
      console.log(`turn ${i}: ${shown < 0 ? 'the speaker was not shown' : 'the speaker was shown before'}`)
      continue
    }
    delays.push(frames[shown]!.at - first)
    freezes.push(frames[shown]!.at - frames[shown - 1]!.at)
  }
  const seconds = (await framesOf(viewer.page)).slice(-120)
  const usual = seconds.slice(1).map(({ at }, i) => at - seconds[i]!.at)
  printFigure('First syllable to the first frame of the new speaker', delays, { p50: 700, p95: 1000 })
  printFigure('Time without a frame at the cut', freezes, { max: 150 })
  printFigure('Time between two frames otherwise', usual)
  if (delays.length < rounds) printCount('Turns without a change', rounds - delays.length, '', 0)
}

/** Measures short words, in silence and while another member speaks. */
const words = async (viewer: SdkPage, [first, second]: readonly [Speaker, Speaker], rounds: number) => {
  let changes = 0
  for (let i = 0; i < rounds; i++) {
    const isSilent = i % 2 === 0
    await say(first.page.page, 'voice', isSilent ? 2000 : 6000)
    await passes(isSilent ? 4000 : 2500)
    const begun = Date.now()
    await say(second.page.page, 'voice', 350)
    await passes(2500)
    changes += changesOf((await framesOf(viewer.page)).filter(({ at }) => at > begun)).length
    await passes(1500)
  }
  printCount(`Changes by ${rounds} words of 0.35 s`, changes, '', 0)
}

/** Measures two members who speak at the same time. */
const crossTalk = async (viewer: SdkPage, speakers: readonly Speaker[], seconds: number): Promise<void> => {
  const begun = Date.now()
  await Promise.all(speakers.map(({ page }) => say(page.page, 'voice', seconds * 1000)))
  await passes(seconds * 1000)
  const changes = changesOf((await framesOf(viewer.page)).filter(({ at }) => at > begun))
  printCount(`Changes in ${seconds} s of cross-talk`, changes.length, '', Math.floor(seconds / 1.5))
  const pauses = changes.slice(1).map((at, i) => at - changes[i]!)
  const fast = pauses.filter((pause) => pause < 1450).length
  printCount('– of them less than 1.5 s after another', fast, '', 0)
}

/** Measures changes of the speaker, in the picture of the speaker: goal G7. */
export const speakers = (rounds = 20): Promise<void> =>
  onStage({ media: { rooms: { picture: 'speaker' } } }, async (stage) => {
    const viewer = await stage.member('ann', { colour: 'red' })
    const lime = { page: await stage.member('ben', { colour: 'lime' }), colour: 'lime' } as const
    const blue = { page: await stage.member('cid', { colour: 'blue' }), colour: 'blue' } as const
    await passes(1000)
    await say(blue.page.page, 'voice', 2500)
    await passes(3000)
    await watch(viewer.page)
    await turns(viewer, [lime, blue], rounds)
    await words(viewer, [blue, lime], 6)
    await crossTalk(viewer, [lime, blue], 20)
  })
