import { texts } from '../texts/language.ts'
import { AccountMenu } from './account-menu.tsx'
import { CallView } from './call.tsx'
import { CallState } from './call-state.tsx'
import { Details } from './details.tsx'
import { Dial } from './dial.tsx'
import { useCallFocus } from './focus.ts'
import { HeldCalls } from './held.tsx'
import { IncomingCalls } from './incoming.tsx'
import { lazy } from './lazy.tsx'
import { Notices } from './notices.tsx'
import { type Page, PageContext, usePage } from './page.ts'
import { PeopleView } from './people.tsx'
import { Tabs } from './tabs.tsx'
import { TopBar } from './top-bar.tsx'

// Parts that the first view does not need are loaded when they are opened.
const ChatsView = lazy(() => import('./chats.tsx').then(({ TalksView }) => TalksView))
const ThreadView = lazy(() => import('./chats.tsx').then(({ ThreadView }) => ThreadView))
const RecentsView = lazy(() => import('./recents.tsx').then(({ RecentsView }) => RecentsView))
const SettingsView = lazy(() => import('./settings.tsx').then(({ SettingsView }) => SettingsView))
const Dialogs = lazy(() => import('./dialogs.tsx').then(({ Dialogs }) => Dialogs))

/** Screen after the sign-in. */
export const Screen = ({ page }: { readonly page: Page }) => (
  <PageContext.Provider value={page}>
    <Frame />
  </PageContext.Provider>
)

const Frame = () => {
  const page = usePage()
  const { ui, phone, chats } = page
  useCallFocus(page)
  const tab = ui.tab.value
  const inCall = phone.current !== undefined
  const thread = tab === 'chats' && chats.thread !== undefined
  // A conversation has the middle of a wide page, unless a call is there.
  const place = !thread ? 'none' : !ui.wide.value ? 'list' : inCall ? 'details' : 'stage'
  const t = texts.value
  return (
    <div class={`app ${inCall ? 'in-call' : ''}`} data-tab={tab} data-thread={place}>
      <a class="skip" href="#stage">
        {t.skipToCall}
      </a>
      <TopBar />
      <Tabs />
      {!ui.narrow.value && <List threadHere={place === 'list'} />}
      <main id="stage" class="stage" data-focus="stage" tabIndex={-1} aria-label={t.phoneLabel}>
        {ui.narrow.value && tab !== 'phone' ? (
          <List threadHere={place === 'list'} />
        ) : (
          <>
            <HeldCalls />
            {inCall ? <CallView /> : place === 'stage' ? <ThreadView /> : <Dial />}
          </>
        )}
      </main>
      {ui.wide.value && (place === 'details' ? <ThreadAside /> : <Details />)}
      <CallState />
      <div class="corner">
        <IncomingCalls />
        <Notices />
      </div>
      {ui.menu.value && <AccountMenu />}
      {ui.dialog.value && <Dialogs />}
    </div>
  )
}

const ThreadAside = () => (
  <aside class="details" aria-label={texts.value.messagesTab}>
    <ThreadView />
  </aside>
)

const List = ({ threadHere }: { readonly threadHere: boolean }) => {
  const { ui } = usePage()
  const t = texts.value
  const tab = ui.tab.value
  const labels = {
    phone: t.peopleTab,
    people: t.peopleTab,
    recents: t.callsTab,
    chats: t.messagesTab,
    settings: t.settingsTab,
  }
  return (
    <section class="list" aria-label={labels[tab]}>
      {threadHere ? (
        <ThreadView />
      ) : (
        <>
          <h2 class="list-title">{labels[tab]}</h2>
          {tab === 'recents' ? (
            <RecentsView />
          ) : tab === 'chats' ? (
            <ChatsView />
          ) : tab === 'settings' ? (
            <SettingsView />
          ) : (
            <PeopleView />
          )}
        </>
      )}
    </section>
  )
}
