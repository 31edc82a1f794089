import type { DefaultTheme } from 'vitepress'

/** Entry of the sidebar: the text, and the page's path below `/docs`. */
const page = (text: string, link: string): DefaultTheme.SidebarItem => ({ text, link })

const group = (text: string, ...items: DefaultTheme.SidebarItem[]): DefaultTheme.SidebarItem => ({
  text,
  items,
})

// A part that folds has a button within a button, which screen readers cannot use.
const role = group

/** Sidebar of the site: one part for each role. Pages that it does not list follow under “More”. */
export const sidebar: DefaultTheme.SidebarItem[] = [
  group(
    'Trunkline',
    page('About Trunkline', '/'),
    page('Concepts', '/concepts'),
    page('Glossary', '/glossary'),
    page('Frequently asked questions', '/faq'),
  ),
  role(
    'Operators',
    page('Start', '/start-operator'),
    group(
      'Guides',
      page('Install', '/install'),
      page('Connect your carrier', '/connect-your-carrier'),
      page('Troubleshooting', '/troubleshooting'),
      page('Production checklist', '/production-checklist'),
      page('Upgrade and backup', '/upgrade'),
      page('Carriers', '/carriers'),
      page('SIP endpoints', '/endpoints'),
      page('Operations', '/operations'),
      page('Security', '/security'),
    ),
    group(
      'Reference',
      page('Command line', '/command-line'),
      page('Configuration', '/configuration'),
      page('Mistakes in the configuration', '/configuration-errors'),
      page('Error codes', '/errors'),
      page('Log events', '/events'),
      page('SIP calls in detail', '/sip-calls'),
      page('SIP agent and drachtio-server', '/drachtio'),
      page('Measured figures', '/measured'),
    ),
  ),
  role(
    'Application developers',
    page('Start', '/start-developer'),
    group(
      'Tutorials',
      page('IVR', '/tutorial-ivr'),
      page('Voicemail', '/tutorial-voicemail'),
      page('Click to call', '/tutorial-click-to-call'),
      page('Queue', '/tutorial-queue'),
      page('Voice bot', '/tutorial-voice-bot'),
      page('Room', '/tutorial-room'),
    ),
    group(
      'Guides',
      page('Migrating from the hosted service', '/migrating'),
      page('Handlers', '/handlers'),
      page('Calls by the API', '/calling'),
      page('Requests to your servers', '/webhooks'),
      page('Recordings', '/recordings'),
      page('Audio streams', '/streams'),
      page('Sounds and voices', '/sounds'),
      page('Detection', '/detection'),
      page('Voice agents', '/agents'),
      page('Documents of agents', '/agent-documents'),
      page('Turn-taking of agents', '/agent-turns'),
      page('Engines of agents', '/agent-engines'),
      page('Engine stand-ins', '/engines-stand-ins'),
      page('Tests of agents', '/agent-test'),
      page('Video rooms', '/rooms'),
      page('Chat', '/chat'),
      page('Tokens', '/tokens'),
      page('Sign-in with OAuth', '/oauth'),
    ),
    group(
      'Browsers',
      page('Browser SDK', '/sdk'),
      page('React', '/react'),
      page('Published SDK', '/published-sdk'),
      page('Push notifications', '/push'),
    ),
    group(
      'Reference',
      page('REST API', '/rest-api'),
      page('XML documents', '/xml'),
      page('Script documents', '/script'),
      page('Call flows', '/flows'),
      page('Realtime applications', '/realtime'),
      page('Calls and call records', '/records'),
      page('XML family REST API', '/compat'),
    ),
  ),
  role('People at the phone', page('Start', '/start-person'), page('The softphone', '/softphone')),
  role(
    'Contributors',
    page('Contributing', '/contributing'),
    page('Architecture', '/architecture'),
    page('Decisions', '/adr/'),
    page('Changes', '/changelog'),
    page('Reporting a vulnerability', '/security-policy'),
    group(
      'Parts',
      page('SIP agent', '/parts/sip-agent'),
      page('Media', '/parts/media'),
      page('Handlers', '/parts/handlers'),
      page('Tests', '/parts/test'),
    ),
  ),
]
