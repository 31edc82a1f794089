/**
 * Schedule of the scenarios. A file's first comment may begin with tags and the reason for them:
 *
 *     /** @schedule tones first: listens for tones, and waits for the time-outs of calls. *\/
 *
 * - `alone`: no other file runs at the same time.
 * - `tones`: beside at most one other file with this tag.
 * - `first`: before the files without this tag.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const tags = ['alone', 'tones', 'first'] as const

/** Rule for the run of a file. */
export type ScheduleTag = (typeof tags)[number]

const isTag = (word: string): word is ScheduleTag => (tags as readonly string[]).includes(word)

/** Returns the tags of a test file. Throws if a tag is unknown, stands elsewhere or has no reason. */
export const scheduleOf = (path: string, source: string): readonly ScheduleTag[] => {
  if (!source.includes('@schedule')) return []
  const [, words = '', reason = ''] =
    /^\/\*\*\s+(?:\* )?@schedule ([^:\n]*):\s+(?!\*\/)(\S)/.exec(source) ?? []
  const fail = (why: string): never => {
    throw new Error(`${path}: ${why}; expected a first comment like /** @schedule tones: reason */`)
  }
  if (reason === '') fail('@schedule without a reason, or not at the start of the file')
  if (source.split('@schedule').length > 2) fail('more than one @schedule')
  const found = words.split(/\s+/)
  const wrong = found.filter((word) => !isTag(word))
  if (wrong.length > 0) fail(`@schedule has ${tags.join(', ')}, not ${wrong.join(', ')}`)
  if (found.includes('alone') && found.includes('tones')) fail('@schedule is either alone or tones')
  return found.filter(isTag)
}

/** Files by tag, as paths below `root`. */
export type Schedule = Readonly<Record<ScheduleTag, readonly string[]>>

/** Reads the tags of all files of scenarios. Throws as {@link scheduleOf} does. */
export const readSchedule = (root: string, pattern = 'test/**/*.test.ts'): Schedule => {
  const tagged = globSync(pattern, { cwd: root })
    .sort()
    .map((path) => ({ path, found: scheduleOf(path, readFileSync(join(root, path), 'utf8')) }))
  const filesOf = (tag: ScheduleTag): string[] =>
    tagged.filter(({ found }) => found.includes(tag)).map(({ path }) => path)
  return { alone: filesOf('alone'), tones: filesOf('tones'), first: filesOf('first') }
}
