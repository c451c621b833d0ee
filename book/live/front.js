// The first page's maze thinks as soon as it is seen.
const { box, spec } = live.maze("front");
new IntersectionObserver(([{ isIntersecting }], observer) => isIntersecting && spec.opened(observer.disconnect())).observe(box);
