/** Names of buttons and fields in the pages for people at the phone: the softphone has them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../../docs/.vitepress/links.ts'

const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const texts = new Set(
  ['en.ts', 'alerts.ts', 'dialogs.ts', 'later.ts', 'room.ts']
    .map((name) => `console/src/texts/${name}`)
    .flatMap((file) => [...read(file).matchAll(/: '([^']+)',/g)].map(([, text]) => text)),
)

it.each(['docs/start-person.md', 'docs/softphone.md'])('%s has the names that the page shows', (file) => {
  const labels = [...read(file).matchAll(/(?<![*\w])\*([^*\n]+)\*(?!\*)/g)].map(([, label = '']) => label)
  expect(labels.length).toBeGreaterThan(5)
  // A path such as *Settings, Notify me of calls* has a name at each step.
  expect(
    labels
      .filter((label) => !texts.has(label))
      .flatMap((label) => label.split(', '))
      .filter((label) => !texts.has(label)),
  ).toEqual([])
})
