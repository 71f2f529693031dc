"use strict";

// Verifies the proof of a shared job in the visitor's browser, by verify.js, and says in one
// line what is proven. It writes nothing that is not from the signed bytes.

async function fillBadge(box) {
  const say = (state, message, text) => {
    box.dataset.state = state;
    box.querySelector("strong").textContent = message;
    box.querySelector("[data-says]").textContent = text;
  };
  say("waiting", "Checking…", "");
  try {
    const { receipt } = await prove();
    must(receipt.job_id === box.dataset.job, "the receipt is that of another job");
    const how = receipt.renderer.id === SYNTHETIC ? "painted for a test, not rendered" : `rendered with ${receipt.renderer.application} ${receipt.renderer.version} on ${receipt.device_name}`;
    say("verified", "Verified in your browser.", shown(`${counted(receipt.frame_count, "frame")}, ${how}, by the signed receipt number ${receipt.log_index} of the log.`));
  } catch (error) {
    say("failed", "Do not trust this page.", error.message);
  }
}

for (const box of document.querySelectorAll("[data-badge]")) fillBadge(box);
