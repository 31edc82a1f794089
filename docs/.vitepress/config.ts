/** Site of the documentation, built by `scripts/docs` and served by the gateway at `/docs/`. */
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type DefaultTheme, defineConfig } from 'vitepress'
import { anchorOf, repositoryPath, root, siteLink, sitePathOf } from './links.ts'
import { sidebar } from './sidebar.ts'

/** Environment of the Markdown renderer: the path of the page. */
interface PageEnv {
  /** Path of the source if the page has another path in the site. */
  readonly realPath?: string
  readonly path: string
}

const linksOf = ({ link, items = [] }: DefaultTheme.SidebarItem): readonly string[] => [
  ...(link ? [link] : []),
  ...items.flatMap(linksOf),
]

/** Returns a part of the sidebar with the pages of `docs/` that it does not list; empty if it has all. */
const unlisted = (): readonly DefaultTheme.SidebarItem[] => {
  const listed = new Set(sidebar.flatMap(linksOf))
  const links = readdirSync(join(root, 'docs'))
    .map((name) => sitePathOf(`docs/${name}`)?.replace(/\.md$/, ''))
    .filter((name) => name !== undefined && name !== 'index' && !listed.has(`/${name}`))
  if (links.length === 0) return []
  return [
    {
      text: 'More',
      items: links.map((name) => ({ text: `${name}`.replaceAll('-', ' '), link: `/${name}` })),
    },
  ]
}

/** Returns the inline scripts of a page. */
const inlineScripts = (html: string): string =>
  [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>[^<]*<\/script>/g)].join('\n')

/**
 * Checks that every page has the inline scripts of the first page, because the gateway reads their hashes
 * from that page only.
 */
const checkScripts = async (folder: string): Promise<void> => {
  const files = await readdir(folder, { recursive: true })
  const scriptsOf = (file: string): string => inlineScripts(readFileSync(join(folder, file), 'utf8'))
  const expected = scriptsOf('index.html')
  const different = files.find((file) => file.endsWith('.html') && scriptsOf(file) !== expected)
  if (different) throw new Error(`${different} has other inline scripts than index.html`)
}

export default defineConfig({
  title: 'Trunkline',
  description: 'A carrier edge in one daemon: SIP trunks, programmable calls, browsers',
  base: '/docs/',
  cleanUrls: true,
  head: [['link', { rel: 'icon', href: '/docs/favicon.svg', type: 'image/svg+xml' }]],
  srcDir: root,
  srcExclude: ['README.md', '{client,config,console,data,gateway,react,realtime,scripts}/**', '**/.*/**'],
  outDir: join(import.meta.dirname, 'dist'),
  cacheDir: join(root, 'node_modules/.cache/vitepress'),
  rewrites: (file) => sitePathOf(file) ?? file,
  // With the metadata in a file, all pages have the same inline scripts; the gateway permits them by hash.
  metaChunk: true,
  buildEnd: async ({ outDir }) => {
    copyFileSync(join(root, 'console/public/favicon.svg'), join(outDir, 'favicon.svg'))
    await checkScripts(outDir)
  },
  // The transition would need an inline style sheet, which the policy of the gateway blocks.
  appearance: { disableTransition: false },
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    // The default colours have too little contrast.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: anchorOf },
    config: (md) => {
      md.core.ruler.push('repository-links', (state) => {
        const { realPath, path } = state.env as PageEnv
        const file = repositoryPath(realPath ?? path)
        for (const { children } of state.tokens)
          for (const token of children ?? []) {
            if (token.type !== 'link_open') continue
            const link = siteLink(file, token.attrGet('href') ?? '')
            if (link === undefined) token.attrs = []
            else token.attrSet('href', link)
          }
      })
    },
  },
  themeConfig: {
    sidebar: [...sidebar, ...unlisted()],
    outline: [2, 3],
    search: { provider: 'local' },
    docFooter: { prev: 'Previous page', next: 'Next page' },
    nav: [{ text: 'API reference', link: '/api', target: '_self' }],
  },
})
