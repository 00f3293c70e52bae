// Keeps the files of this page, so that it works offline after the first visit, and answers no request to anywhere else.

const VERSION = 'VERSION', FILES = ['FILES'];

addEventListener('install', event => event.waitUntil((async () => {
  const cache = await caches.open(VERSION);
  await cache.addAll(FILES.map(file => new Request(file, { cache: 'reload' })));
  await skipWaiting();
})()));

addEventListener('activate', event => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name !== VERSION) await caches.delete(name);
  await clients.claim();
})()));

addEventListener('fetch', event => event.respondWith((async () => {
  if (new URL(event.request.url).origin !== location.origin) return Response.error();
  const cache = await caches.open(VERSION);
  return await cache.match(event.request, { ignoreSearch: true }) ?? fetch(event.request);
})()));
