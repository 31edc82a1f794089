import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anchorOf, root, siteLink, sitePathOf } from '../../docs/.vitepress/links.ts'
import { sidebar } from '../../docs/.vitepress/sidebar.ts'

interface Item {
  readonly link?: string
  readonly items?: readonly Item[]
}

// The introductions are parts of generated pages.
const files = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .stdout.split('\n')
  .filter((file) => file !== '' && !/-introduction\.md$/.test(file) && existsSync(join(root, file)))

const linksOf = ({ link, items = [] }: Item): readonly string[] => [
  ...(link ? [link] : []),
  ...items.flatMap(linksOf),
]

/** Returns a page without its code. */
const proseOf = (file: string): string =>
  readFileSync(join(root, file), 'utf8')
    .replace(/^( *)```[\s\S]*?^\1```$/gm, '')
    .replace(/``[^`]*``/g, '')

/** Returns the anchors of the headings of a page. A repeated heading has a number. */
const anchorsOf = (file: string): ReadonlySet<string> => {
  const anchors = new Set<string>()
  for (const [, heading = ''] of proseOf(file).matchAll(/^#+ (.+)$/gm)) {
    const anchor = anchorOf(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1'))
    let unique = anchor
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`
    anchors.add(unique)
  }
  return anchors
}

describe('the site of the documentation', () => {
  it('has only pages that exist in its sidebar, each once', () => {
    const pages = files
      .map(sitePathOf)
      .filter((path) => path !== undefined && !/^adr\/\d/.test(path))
      .map((path) => `/${path}`.replace(/\.md$/, '').replace(/\/index$/, '/'))
    const links = sidebar.flatMap(linksOf)
    expect(links.filter((link) => !pages.includes(link))).toEqual([])
    expect(new Set(links).size).toBe(links.length)
  })

  it('leads links of pages to pages of the site, and drops links to other files', () => {
    expect(siteLink('docs/xml.md', 'errors.md#busy')).toBe('/errors.md#busy')
    expect(siteLink('docs/adr/README.md', '../../CONTRIBUTING.md')).toBe('/contributing.md')
    expect(siteLink('handlers/README.md', 'verbs.ts')).toBeUndefined()
    expect(siteLink('docs/xml.md', 'none.md')).toBe('/none.md')
    expect(siteLink('docs/xml.md', '#actions')).toBe('#actions')
    expect(siteLink('docs/xml.md', 'https://example.com/a.md')).toBe('https://example.com/a.md')
  })
})

it.each(files)('%s links to files and headings that exist', (file) => {
  const wrong = [...proseOf(file).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/i.test(link))
    .filter((link) => {
      const [target = '', fragment] = link.split('#', 2)
      const path = target === '' ? file : posix.join(dirname(file), target)
      if (!existsSync(join(root, path))) return true
      return fragment !== undefined && path.endsWith('.md') && !anchorsOf(path).has(fragment)
    })
  expect(wrong).toEqual([])
})
