import { defaultPresenceLimits } from '../../../gateway/rpc/subscriber/presence.ts'
import { composerReason } from '../../../media/compose/pictures.ts'
import {
  busiestComposer,
  composerPids,
  isComposerReady,
} from '../../../media/compose/testing/composer-pids.ts'
import type { SdkPage } from '../../../test/support/sdk-page.ts'
import { until } from '../../../test/support/until.ts'
import { printCount, printFigure } from './figures.ts'
import { framesOf, type SeenFrame, watch } from './person.ts'
import { lounge, memberIdOf, onStage, passes, rectangleOf } from './stage.ts'

/** Time in ms after which a page that is lost without a goodbye has left. */
const { graceMs } = defaultPresenceLimits

/** Times in ms after the death of the composing process. */
interface Repaired {
  readonly toSpeaker: number
  readonly toComposed: number
  readonly longestPause: number
}

const longestPause = (frames: readonly SeenFrame[]): number =>
  Math.max(...frames.slice(1).map(({ at }, i) => at - frames[i]!.at))

/** Kills the composing process of a room of two, and waits until another one composes its picture. */
const repaired = async (): Promise<Repaired> => {
  let found: Repaired | undefined
  await onStage({}, async (stage) => {
    const viewer = await stage.member('ann', { colour: 'red' })
    await stage.member('ben', { colour: 'lime' })
    // The rectangle of the viewer has its own camera if composed, and else a part of the other one.
    await watch(viewer.page, rectangleOf(viewer, memberIdOf(viewer)))
    const composed = () => framesOf(viewer.page)
    await until('a composed picture', composed, (frames) => frames.at(-1)?.colour === 'red')
    await passes(6000)
    const composing = busiestComposer(stage.gateway.pid)!
    await until(
      'another process is ready',
      () => composerPids(stage.gateway.pid).filter((pid) => pid !== composing && isComposerReady(pid)),
      (pids) => pids.length > 0,
    )
    const killed = Date.now()
    process.kill(composing, 'SIGKILL')
    const firstAfter = (frames: readonly SeenFrame[], colour: string, since: number) =>
      frames.find((frame) => frame.at > since && frame.colour === colour)?.at ?? Number.POSITIVE_INFINITY
    const times = (frames: readonly SeenFrame[]) => {
      const speaker = firstAfter(frames, 'lime', killed)
      return { speaker, composed: firstAfter(frames, 'red', speaker) }
    }
    const frames = await until(
      'a composed picture again',
      composed,
      (seen) => times(seen).composed < Infinity,
    )
    const { speaker, composed: again } = times(frames)
    const since = frames.filter(({ at }) => at > killed - 200 && at <= again)
    found = { toSpeaker: speaker - killed, toComposed: again - killed, longestPause: longestPause(since) }
  })
  return found!
}

/** Measures the death of composing processes: a part of goal G13. */
const deaths = async (rounds: number): Promise<void> => {
  const reason = composerReason()
  if (reason !== undefined) return console.log(`deaths of the composing process: skipped: ${reason}`)
  const all: Repaired[] = []
  for (let i = 0; i < rounds; i++) all.push(await repaired())
  const speakers = all.map(({ toSpeaker }) => toSpeaker)
  printFigure('Death of the composing process to the speaker', speakers, { max: 1000 })
  const composed = all.map(({ toComposed }) => toComposed)
  printFigure('– to the composed picture', composed, { max: 3000 })
  const pauses = all.map((each) => each.longestPause)
  printFigure('– longest time without a frame', pauses)
}

/** Number of members with one name that a page counts at most from now on, by the events. */
const countDoubles = async (page: SdkPage, name: string): Promise<() => Promise<number>> => {
  await page.page.evaluate(
    `(() => {
      globalThis.benchPresent = new Set()
      globalThis.benchMost = 0
      call.on('member.joined', ({ member }) => {
        if (member.name !== '${name}') return
        benchPresent.add(member.member_id ?? member.id)
        benchMost = Math.max(benchMost, benchPresent.size)
      })
      call.on('member.left', ({ member }) => benchPresent.delete(member.member_id ?? member.id))
    })()`,
  )
  return () => page.page.evaluate('benchMost')
}

/** Measures pages that vanish, and pages that reload: goal G14. */
const ghosts = (reloads: number): Promise<void> =>
  onStage({}, async (stage) => {
    const viewer = await stage.member('ann', { colour: 'red', rate: 5 })
    const most = await countDoubles(viewer, 'ben')
    const reloading = await stage.member('ben', { colour: 'lime', rate: 5 })
    let listed = 0
    for (let i = 0; i < reloads; i++) {
      await reloading.reload()
      await reloading.begin('reattach', lounge, { video: true })
      await reloading.started()
      const { members } = (await viewer.do('getMembers')) as { members: readonly { name: string }[] }
      listed = Math.max(listed, members.filter(({ name }) => name === 'ben').length)
    }
    printCount(`Members of one name in ${reloads} reloads, as listed`, listed, '', 1)
    printCount('– by the events', await most(), '', 1)
    await viewer.page.evaluate(
      `globalThis.benchLeft = []; call.on('member.left', () => benchLeft.push(Date.now()))`,
    )
    const lost = [reloading, await stage.member('cid', { colour: 'blue', rate: 5 })]
    await passes(2000)
    const gone: number[] = []
    for (const page of lost) {
      gone.push(Date.now())
      await page.close()
    }
    const left = await until(
      'the lost pages have left',
      () => viewer.page.evaluate('benchLeft') as Promise<number[]>,
      ({ length }) => length === lost.length,
      20_000,
    )
    const errors = left.map((at, i) => Math.abs(at - gone[i]! - graceMs))
    printFigure(
      'Lost page to its leave',
      left.map((at, i) => at - gone[i]!),
    )
    printFigure(`– difference to the grace of ${graceMs / 1000} s`, errors, { max: 1000 })
  })

/** Measures faults: deaths of the composing process, and pages that vanish or reload. */
export const faults = async (rounds = 4): Promise<void> => {
  await deaths(rounds)
  await ghosts(5)
}
