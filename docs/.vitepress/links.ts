import { existsSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'

/** Root of the repository, whose pages the site shows. */
export const root = join(import.meta.dirname, '../..')

/** Paths in the site of pages that are outside of `docs/`. */
const elsewhere: Readonly<Record<string, string>> = {
  'ARCHITECTURE.md': 'architecture.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'SECURITY.md': 'security-policy.md',
  // `/docs/api` is the reference of the API.
  'docs/api.md': 'rest-api.md',
  'handlers/README.md': 'parts/handlers.md',
  'media/README.md': 'parts/media.md',
  'sip-agent/README.md': 'parts/sip-agent.md',
  'test/README.md': 'parts/test.md',
}

/** Returns the path in the site of a page of the repository; undefined if the site does not show it. */
export const sitePathOf = (file: string): string | undefined =>
  elsewhere[file] ??
  (/^docs\/[\w./-]+\.md$/.test(file)
    ? file.slice('docs/'.length).replace(/README\.md$/, 'index.md')
    : undefined)

/**
 * Returns a link of a page as the site needs it. Pages link to one another as files of the repository, so
 * that the links work on a code host as well. Links to other files of the repository lose their target,
 * because the site does not have them. `file`: path of the page in the repository.
 */
export const siteLink = (file: string, href: string): string | undefined => {
  const [target = '', fragment] = href.split('#', 2)
  if (target === '' || /^(?:[a-z]+:|\/)/i.test(target)) return href
  const path = posix.join(dirname(file), target)
  const page = sitePathOf(path)
  if (page === undefined && existsSync(join(root, path))) return undefined
  // A page that does not exist stays in the link, so that the build reports it.
  return `/${page ?? path}${fragment === undefined ? '' : `#${fragment}`}`
}

/** Returns the path of a page in the repository. */
export const repositoryPath = (path: string): string => relative(root, path)

/** Returns the anchor of a heading, by the rule of code hosts. */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-')
